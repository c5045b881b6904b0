import type { Problem } from '@reelgate/platform/problem';
import type { MediaObject } from '../domain/media-object.ts';
import { refuse } from '../refusals.ts';

const RETRY_MS = 1000;

/** A refused medium. The message continues a sentence that begins with the name of the item, which the caller adds. */
export function invalidMedia(said: string, cause?: unknown): Problem {
  return refuse('invalid_media', { message: said, cause });
}

/** Creates the same refusal for an unknown object and for an object of another account. */
export function unknownMedia(): Problem {
  return invalidMedia('must be a stored result of this account; there is none at this address');
}

/** Creates that refusal for an object that is named by its id. */
export function unknownObject(): Problem {
  return invalidMedia('must name an object of this account that is still stored; there is none');
}

export function mediaBusy(said: string, cause?: unknown): Problem {
  return refuse('media_busy', { message: said, retryAfterMs: RETRY_MS, cause });
}

/** The content was removed in the meantime. The pins prevent this in nearly all cases. */
export function requireClaimed(object: MediaObject | undefined): MediaObject {
  if (object === undefined) throw mediaBusy('could not be kept now; try again');
  return object;
}
