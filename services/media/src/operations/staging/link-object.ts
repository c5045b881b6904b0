import type { Clock } from '@reelgate/platform/clock';
import type { BlobStore } from '../../blobs/blob-store.ts';
import { buildFileName, isKept, readMediaType } from '../../domain/media-object.ts';
import type { MediaStore } from '../../store/media-store.ts';

const LINK_SECONDS_MAX = 24 * 3600;

export interface LinkObjectDeps {
  readonly store: MediaStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
  /** True if channels get addresses in the bucket. */
  readonly presigned: boolean;
}

/**
 * Creates an address in the bucket for a channel, valid for a day at most. Returns undefined if the channel reads the
 * object here.
 */
export async function linkObject(
  { store, blobs, clock, presigned }: LinkObjectDeps,
  id: string,
): Promise<string | undefined> {
  if (!presigned) return undefined;
  const found = await store.find(id);
  const now = clock.now();
  if (found?.purpose !== 'staged' || !isKept(found, now)) return undefined;
  const secondsLeft = Math.min(LINK_SECONDS_MAX, Math.max(1, Math.floor((found.expiresAt - now) / 1000)));
  return blobs.linkTo(found.blob.key, {
    method: 'GET',
    mediaType: readMediaType(found),
    fileName: buildFileName(found),
    secondsLeft,
  });
}
