import type { Foundation } from '@reelgate/platform/foundation';
import { linkKey } from '@reelgate/platform/signatures';
import type { Secret } from '@reelgate/platform/secret';
import type { MediaBytes } from '../../clients/media-bytes.ts';
import type { StoreDeps } from '../deps.ts';
import type { UploadDeps } from './upload-media.ts';
import { newStreamPermits } from './content-stream-permits.ts';
import type { StreamPermits } from './content-stream-permits.ts';

/** The reads of results at one time. Each holds a connection and about a quarter of a megabyte. */
const READS = { what: 'reads of content', total: 512, perAccount: 128 };
const UPLOADS = { what: 'uploads', total: 128, perAccount: 16 };

/** The dependencies of the operations on the bytes and the links of results and uploads. */
export interface ContentDeps extends StoreDeps, UploadDeps {
  readonly reads: StreamPermits;
  readonly publicUrl: string;
  readonly linkKey: Secret;
}

export function newContentDeps(
  { clock, log, publicUrl, signingKey }: Foundation,
  { store }: StoreDeps,
  bytes: MediaBytes,
): ContentDeps {
  return {
    store,
    clock,
    log,
    bytes,
    publicUrl,
    linkKey: linkKey(signingKey),
    reads: newStreamPermits(READS),
    uploads: newStreamPermits(UPLOADS),
  };
}
