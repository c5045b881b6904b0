import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { Secret } from '@reelgate/platform/secret';
import type { MediaBytes } from '../../clients/media-bytes.ts';
import type { Deps } from '../deps.ts';
import type { StreamPermits } from './stream-permits.ts';

/** What the reads and the links of results need. */
export interface ContentDeps extends Pick<Deps, 'store'> {
  readonly clock: Clock;
  readonly log: Log;
  readonly bytes: MediaBytes;
  readonly reads: StreamPermits;
  readonly publicUrl: string;
  readonly signingKey: Secret;
}
