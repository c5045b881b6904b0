import type { Clock } from '@reelgate/platform/clock';
import type { BlobStore } from '../../blobs/blob-store.ts';
import type { MediaStore, GarbageStore } from '../../store/media-store.ts';

const BATCH_MAX = 100;
/** The time for which an ended result answers 410 and not 404, in milliseconds. */
const REMEMBERED_MS = 90 * 24 * 3_600_000;

export interface CollectDeps {
  readonly store: MediaStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
}

/**
 * Runs one pass: ends expired objects, then removes unclaimed bytes. The database is changed first. A key that is
 * recorded as garbage is never used again: a concurrent upload of the same content gets another key.
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

/** Removes bytes that are recorded as garbage. What a crash leaves of them, the sweep removes. */
export async function removeBytes(
  { blobs, store }: { readonly blobs: BlobStore; readonly store: GarbageStore },
  keys: readonly string[],
): Promise<void> {
  for (const key of keys) {
    await blobs.remove(key);
    await store.forgetGarbage(key);
  }
}
