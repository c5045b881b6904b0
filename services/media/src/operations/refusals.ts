import { Problem } from '@reelgate/platform/problem';
import type { MediaObject } from '../domain/media-object.ts';

const RETRY_MS = 1000;

/** A medium that is not taken. The sentence goes on from the name of the item, which only the caller knows. */
export function invalidMedia(said: string, cause?: unknown): Problem {
  return new Problem({ kind: 'invalid', reason: 'invalid_media', message: said, cause });
}

/** Unknown, and somebody else's: the same answer. */
export function unknownMedia(): Problem {
  return invalidMedia('must be a result of this account that is still kept; there is none at this address');
}

export function mediaBusy(said: string, cause?: unknown): Problem {
  return new Problem({ kind: 'unavailable', reason: 'media_busy', message: said, retryAfterMs: RETRY_MS, cause });
}

/** What was found has been removed in the meantime, which the pins make all but impossible. */
export function claimed(object: MediaObject | undefined): MediaObject {
  if (object === undefined) throw mediaBusy('could not be kept now; try again');
  return object;
}
