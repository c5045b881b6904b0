import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { BlobStore } from '../blobs/blob-store.ts';
import type { ReceivedFile } from '../blobs/incoming.ts';
import type { Blob } from '../domain/media-object.ts';
import type { MediaStore } from '../store/media-store.ts';
import { mediaBusy } from './refusals.ts';
import { removeBytes } from './remove-bytes.ts';

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

/** Content that is stored, and the pin that protects it until a claim takes its place. */
export interface KeptFile {
  readonly blob: Blob;
  readonly pin: string;
}

/**
 * Freezes a received file under its content. The row comes before the bytes, so that bytes without a row are never left; the pin keeps
 * them from the sweep until an object claims them. Bytes that took so long that they may have been swept meanwhile are pinned again, or
 * refused as busy and removed. Where it fails, nothing of this file stays.
 */
export async function keepFile(deps: KeepFileDeps, file: ReceivedFile): Promise<KeptFile> {
  const { store, clock, newId } = deps;
  const began = clock.now();
  const pin = `${file.sha256}-${newId('b')}`;
  const blob = await store.pinBlob({ sha256: file.sha256, bytes: file.bytes, key: pin }, began + PIN_MS);
  try {
    await storeUnder(deps, blob.key, file);
    if (clock.now() - began > PIN_MS - CLAIM_MS && !(await store.renewPin(blob, pin, clock.now() + PIN_MS)))
      await dropSwept(deps, blob);
  } catch (error) {
    await dropPin(deps, pin);
    throw error;
  }
  return { blob, pin };
}

async function storeUnder({ blobs }: KeepFileDeps, key: string, file: ReceivedFile): Promise<void> {
  if ((await blobs.sizeOf(key)) === file.bytes) await file.discard();
  else await blobs.keep(key, file);
}

/** Removes what an upload stored, where nothing else protects it. What cannot be done now the sweep does once the pin is over. */
export async function dropPin(deps: Pick<KeepFileDeps, 'blobs' | 'store' | 'clock'>, pin: string): Promise<void> {
  try {
    const key = await deps.store.dropPin(pin, deps.clock.now());
    if (key !== undefined) await removeBytes(deps, [key]);
  } catch {
    // the upload has its own answer, and the pin its end
  }
}

/** The sweep that took the row may have passed the key before the bytes were there: it is their uploader who removes them for certain. */
async function dropSwept(deps: KeepFileDeps, { key }: Blob): Promise<never> {
  await removeBytes(deps, [key]);
  throw mediaBusy('took too long to be stored; try again');
}
