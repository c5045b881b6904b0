import type { Secret } from '@reelgate/platform/secret';
import type { Deps } from '../deps.ts';
import type { UploadDeps } from '../uploads/upload-media.ts';
import type { StreamPermits } from './stream-permits.ts';

/** The dependencies of the operations on the bytes and the links of results and uploads. */
export interface ContentDeps extends Pick<Deps, 'store'>, UploadDeps {
  readonly reads: StreamPermits;
  readonly publicUrl: string;
  readonly linkKey: Secret;
}
