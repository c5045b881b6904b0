import type { BlobStore } from '../../blobs/blob-store.ts';
import type { GarbageStore } from '../../store/media-store.ts';

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
