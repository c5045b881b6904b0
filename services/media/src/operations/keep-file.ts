import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { ReceivedFile } from '../blobs/incoming.ts';
import type { Blob } from '../domain/media-object.ts';
import type { MediaStore } from '../store/media-store.ts';

/** Longer than it takes from here to the claim that is made next. */
const PIN_MS = 3_600_000;

export interface KeepFileDeps {
  readonly blobs: BlobStore;
  readonly store: MediaStore;
  readonly clock: Clock;
  readonly newId: NewId;
}

/**
 * Freezes a received file under its content. The row comes before the bytes, so that bytes without a row are never left; the pin keeps
 * them from the sweep until an object claims them.
 */
export async function keepFile({ blobs, store, clock, newId }: KeepFileDeps, file: ReceivedFile): Promise<Blob> {
  const blob = await store.pinBlob({ sha256: file.sha256, bytes: file.bytes, key: `${file.sha256}-${newId('b')}` }, clock.now() + PIN_MS);
  if ((await blobs.sizeOf(blob.key)) === file.bytes) await file.discard();
  else await blobs.keep(blob.key, file);
  return blob;
}
