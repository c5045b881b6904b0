import type { BlobStore } from '../blobs/blob-store.ts';
import type { MediaStore } from '../store/media-store.ts';

/** Removes bytes that the books have given up. What a crash leaves of it is in the books as garbage, and the sweep removes it. */
export async function removeBytes(
  { blobs, store }: { readonly blobs: Pick<BlobStore, 'remove'>; readonly store: Pick<MediaStore, 'forgetGarbage'> },
  keys: readonly string[],
): Promise<void> {
  for (const key of keys) {
    await blobs.remove(key);
    await store.forgetGarbage(key);
  }
}
