import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { ReceivedFile } from '../blobs/incoming.ts';
import type { Blob } from '../domain/media-object.ts';
import type { MediaStore } from '../store/media-store.ts';
import { mediaBusy } from './refusals.ts';

/** Longer than most uploads take. */
const PIN_MS = 3_600_000;
/** Longer than it takes from the end of an upload to the claim that is made next, and than clocks of two machines differ. */
const CLAIM_MS = PIN_MS / 2;

export interface KeepFileDeps {
  readonly blobs: BlobStore;
  readonly store: MediaStore;
  readonly clock: Clock;
  readonly newId: NewId;
}

/**
 * Freezes a received file under its content. The row comes before the bytes, so that bytes without a row are never left; the pin keeps
 * them from the sweep until an object claims them. Bytes that took so long that they may have been swept meanwhile are pinned again, or
 * refused as busy and removed.
 */
export async function keepFile(deps: KeepFileDeps, file: ReceivedFile): Promise<Blob> {
  const { blobs, store, clock, newId } = deps;
  const began = clock.now();
  const blob = await store.pinBlob({ sha256: file.sha256, bytes: file.bytes, key: `${file.sha256}-${newId('b')}` }, began + PIN_MS);
  if ((await blobs.sizeOf(blob.key)) === file.bytes) await file.discard();
  else await blobs.keep(blob.key, file);
  if (clock.now() - began > PIN_MS - CLAIM_MS && !(await store.renewPin(blob, clock.now() + PIN_MS))) await dropSwept(deps, blob);
  return blob;
}

/** The sweep that took the row may have passed the key before the bytes were there: it is their uploader who removes them for certain. */
async function dropSwept({ blobs, store }: KeepFileDeps, { key }: Blob): Promise<never> {
  await blobs.remove(key);
  await store.forgetGarbage(key);
  throw mediaBusy('took too long to be stored; try again');
}
