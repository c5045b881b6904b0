/*
 * The words of this service. A *blob* is bytes, stored once. An *object* is the claim of an account to a blob, with an id
 * that cannot be guessed. A *reference* is a piece of media as the client named it, and *staged* once it is fetched,
 * checked and frozen. A *result* is a finished video.
 */
import { FORMATS } from './formats.ts';
import type { MediaFacts } from './media-facts.ts';

const UNKNOWN_TYPE = 'application/octet-stream';

/**
 * The reason for which an object is stored: it is a frozen input, bytes that a client sent in its request, a finished
 * video, a picture of it, or bytes that only the other services read.
 */
export type Purpose = 'staged' | 'inline' | 'result' | Picture | 'private';

/** A picture that belongs to a finished video and ends with it: one that is drawn here, or the generator's own. */
export type Picture = 'thumbnail' | 'last_frame';

const PICTURES: ReadonlySet<Purpose> = new Set<Picture>(['thumbnail', 'last_frame']);

export function isPicture(purpose: Purpose): purpose is Picture {
  return PICTURES.has(purpose);
}

/** Bytes, stored once for all objects that hold them. */
export interface Blob {
  /** Hexadecimal. */
  readonly sha256: string;
  readonly bytes: number;
  /** The key in the blob store. A key is never used again after its bytes are removed. */
  readonly key: string;
  /** Undefined until the bytes are probed. */
  readonly facts: MediaFacts | undefined;
}

/** The claim of an account to bytes, with an id that cannot be guessed. Times are milliseconds since 1970. */
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

export function readMediaType({ blob }: MediaObject): string {
  return blob.facts?.mediaType ?? UNKNOWN_TYPE;
}

/**
 * Returns the name under which a browser saves the object. It is safe in a header. It defaults to the object's id, and
 * gets the extension of the type if it has no extension.
 */
export function buildFileName(found: MediaObject, name = found.id): string {
  const extension = FORMATS[readMediaType(found)]?.extension ?? 'bin';
  return (name.includes('.') ? name : `${name}.${extension}`).replace(/[^A-Za-z0-9._-]/g, '_');
}
