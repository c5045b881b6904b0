import type { Clock } from '@reelgate/platform/clock';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { MediaStore } from '../store/media-store.ts';
import { removeBytes } from './remove-bytes.ts';

const BATCH_MAX = 100;
/** How long an ended result answers that it ended, rather than that it never was. */
const REMEMBERED_MS = 90 * 24 * 3_600_000;

export interface CollectDeps {
  readonly store: MediaStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
}

/**
 * One pass: ends what has expired, then removes the bytes that nobody claims. The books come first, and a key that is in them as garbage
 * is never given out again: an upload of the same content beside it gets another one.
 */
export async function collectGarbage(deps: CollectDeps): Promise<number> {
  const { store, clock } = deps;
  const now = clock.now();
  const expired = await store.expireObjects(now, BATCH_MAX);
  const forgotten = await store.forgetObjects(now - REMEMBERED_MS, BATCH_MAX);
  const keys = await store.takeGarbage(now, BATCH_MAX);
  await removeBytes(deps, keys);
  const spent = await store.forgetSpent(now, BATCH_MAX);
  return expired + forgotten + keys.length + spent;
}
