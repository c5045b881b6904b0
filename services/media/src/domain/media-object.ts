import { FORMATS } from './formats.ts';
import type { MediaFacts } from './media-facts.ts';

const UNKNOWN_TYPE = 'application/octet-stream';

/**
 * Why something is kept: a frozen input, the bytes that a client sent with its request, a finished video, the picture that stands for
 * it, or bytes that only the other services read, for as long as they say.
 */
export type Purpose = 'staged' | 'inline' | 'result' | 'thumbnail' | 'private';

/** Bytes, kept once however many objects hold them. */
export interface Blob {
  /** Hexadecimal. */
  readonly sha256: string;
  readonly bytes: number;
  /** Under which the blob store has them. Never used again once they were removed. */
  readonly key: string;
  /** Undefined until they were probed. */
  readonly facts: MediaFacts | undefined;
}

/** Somebody's claim to bytes, with an id that cannot be guessed. Times are milliseconds since 1970. */
export interface MediaObject {
  readonly id: string;
  readonly accountId: string;
  readonly taskId: string;
  readonly purpose: Purpose;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly removedAt: number | undefined;
  readonly blob: Blob;
}

export function isKept(object: MediaObject, now: number): boolean {
  return object.removedAt === undefined && object.expiresAt > now;
}

export function mediaTypeOf({ blob }: MediaObject): string {
  return blob.facts?.mediaType ?? UNKNOWN_TYPE;
}

/** As a browser saves it: safe to stand in a header, and made from the object's id when no name is given. */
export function fileNameOf(found: MediaObject, name?: string): string {
  const extension = FORMATS[mediaTypeOf(found)]?.extension ?? 'bin';
  return (name ?? `${found.id}.${extension}`).replace(/[^A-Za-z0-9._-]/g, '_');
}
