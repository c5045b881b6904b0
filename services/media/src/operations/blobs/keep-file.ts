import type { Clock } from '@reelgate/platform/clock';
import { newKey } from '@reelgate/platform/ids';
import type { NewId, Random } from '@reelgate/platform/ids';
import type { BlobStore } from '../../blobs/blob-store.ts';
import type { ReceivedFile } from '../../blobs/incoming.ts';
import type { Blob, MediaObject, Purpose } from '../../domain/media-object.ts';
import type { MediaStore, NewObject } from '../../store/media-store.ts';
import { mediaBusy } from '../media-refusals.ts';
import { removeBytes } from '../garbage/collect-garbage.ts';
import type { MediaFacts } from '../../domain/media-facts.ts';

/** Longer than most uploads take. */
const PIN_MS = 3_600_000;
/** Longer than the time from the end of an upload to its claim, and than the clocks of two machines differ. */
const CLAIM_MS = PIN_MS / 2;

export interface KeepFileDeps {
  readonly blobs: BlobStore;
  readonly store: MediaStore;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** Stored content, and the pin that protects it until a claim replaces it. */
export interface KeptFile {
  readonly blob: Blob;
  readonly pin: string;
}

/**
 * Stores a received file under its content. The row is written before the bytes, so there are never bytes without a
 * row. The pin protects them from the sweep until an object claims them. If the upload takes so long that the sweep may
 * have taken the row, the bytes are pinned again, or removed and refused as busy. A failure leaves neither bytes nor
 * row.
 */
async function keepFile(deps: KeepFileDeps, file: ReceivedFile): Promise<KeptFile> {
  const { store, clock, newId } = deps;
  const began = clock.now();
  const pin = `${file.sha256}-${newId('b')}`;
  const blob = await store.pinBlob({ sha256: file.sha256, bytes: file.bytes, key: pin }, began + PIN_MS);
  try {
    // a row that this pin created has no bytes yet
    if (blob.key === pin) await deps.blobs.keep(pin, file);
    else await storeUnder(deps, blob.key, file);
    if (clock.now() - began > PIN_MS - CLAIM_MS && !(await store.renewPin(blob, pin, clock.now() + PIN_MS)))
      await dropSwept(deps, blob);
  } catch (error) {
    await dropPin(deps, pin);
    throw error;
  }
  return { blob, pin };
}

async function storeUnder({ blobs }: KeepFileDeps, key: string, file: ReceivedFile): Promise<void> {
  if (await blobs.has(key, file.bytes)) await file.discard();
  else await blobs.keep(key, file);
}

/**
 * Removes the bytes of an upload if they are not protected otherwise. If that fails, the sweep removes them after the
 * pin.
 */
async function dropPin(deps: KeepFileDeps, pin: string): Promise<void> {
  try {
    const key = await deps.store.dropPin(pin, deps.clock.now());
    if (key !== undefined) await removeBytes(deps, [key]);
  } catch {
    // the caller gets the error of the upload, and the pin expires
  }
}

/** The sweep may have removed the key before the bytes were there, so the uploader removes them. */
async function dropSwept(deps: KeepFileDeps, { key }: Blob): Promise<never> {
  await removeBytes(deps, [key]);
  throw mediaBusy('took too long to be stored; try again');
}

const ID_BYTES = 20;
/** The prefixes of ids. */
const PREFIXES: Readonly<Record<Purpose, string>> = {
  staged: 'med',
  inline: 'inl',
  result: 'vid',
  thumbnail: 'pic',
  last_frame: 'pic',
  private: 'prv',
};

export interface ClaimDeps {
  readonly store: MediaStore;
  readonly clock: Clock;
  readonly random: Random;
}

export interface Claim extends Omit<NewObject, 'id' | 'createdAt' | 'expiresAt'> {
  readonly facts: MediaFacts | undefined;
  readonly lifetimeMs: number;
  /** The name that the caller chose, by default an id that cannot be guessed. */
  readonly id?: string | undefined;
}

/** Creates an object for stored content. Its id appears in links, so it is a secret of 160 bits and not a hash. */
export async function claimBlob(
  { store, clock, random }: ClaimDeps,
  { facts, lifetimeMs, id, ...claim }: Claim,
): Promise<MediaObject | undefined> {
  const now = clock.now();
  return store.addObject(
    {
      ...claim,
      id: id ?? newKey(PREFIXES[claim.purpose], ID_BYTES, random),
      createdAt: now,
      expiresAt: now + lifetimeMs,
    },
    facts,
  );
}

/** Stores a file and claims it. If the claim fails, the bytes are removed immediately. */
export async function claimFile(
  deps: KeepFileDeps & ClaimDeps,
  file: ReceivedFile,
  claim: Omit<Claim, 'blob' | 'pin'>,
): Promise<MediaObject | undefined> {
  const { blob, pin } = await keepFile(deps, file);
  let object: MediaObject | undefined;
  try {
    object = await claimBlob(deps, { ...claim, blob, pin });
    return object;
  } finally {
    if (object?.blob.sha256 !== blob.sha256) await dropPin(deps, pin);
  }
}
