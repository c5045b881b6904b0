import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { isKept, readMediaType } from '../domain/media-object.ts';
import type { MediaObject } from '../domain/media-object.ts';
import type { ByteRange } from '../blobs/blob-store.ts';
import { beginUpload } from '../operations/bytes/begin-upload.ts';
import type { BeginUploadDeps, UploadOrder } from '../operations/bytes/begin-upload.ts';
import { putBytes } from '../operations/bytes/put-bytes.ts';
import type { PutDeps, PutOptions } from '../operations/bytes/put-bytes.ts';
import { receiveFile } from '../operations/files/keep-files.ts';
import type { FileDeps } from '../operations/files/keep-files.ts';
import { removeBytes } from '../operations/garbage/collect-garbage.ts';
import { serveLink } from './link.ts';
import type { LinkDeps } from './link.ts';
import { serveObject } from './serve-object.ts';
import type { ServeOrder } from './serve-object.ts';

export interface StoredBytes {
  readonly object: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

export interface OpenedObject {
  readonly stream: Readable;
  /** The bytes of the whole object. */
  readonly bytes: number;
  readonly mediaType: string;
  /** Hexadecimal, of the whole object. */
  readonly sha256: string;
}

export interface FileBytes {
  /**
   * Receives the bytes of a reserved file and returns their number. Refuses more bytes than reserved with
   * `body_too_large`.
   */
  putFile(source: Readable, file: { readonly accountId: string; readonly id: string }): Promise<number>;
}

export interface UploadBytes {
  /** Reserves the bytes of an upload, or refuses it before its first byte. */
  beginUpload(order: UploadOrder): Promise<{ readonly upload: string; readonly bytesMax: number }>;
  /** Gives up an upload that did not end in an object. An upload that has ended is not an error. */
  endUpload(upload: string): Promise<void>;
}

/** The bytes of media for callers in the same process. Other callers use the routes. */
export interface MediaBytes extends UploadBytes, FileBytes {
  /**
   * Stores inline bytes for the time of a request, or private bytes for `privateMs`. Refuses more than `bytesMax` bytes
   * with `body_too_large`.
   */
  put(source: Readable | Uint8Array, options: PutOptions): Promise<StoredBytes>;
  /**
   * Removes inline and private bytes, and no others, before they expire. An object that is already gone is not an
   * error.
   */
  remove(objects: readonly string[]): Promise<void>;
  /** Returns undefined if there is no such object, or if it has expired. The caller must read or destroy the stream. */
  read(object: string, range?: ByteRange): Promise<OpenedObject | undefined>;
  /** Reads the thumbnail of a result. Returns undefined if it has no thumbnail. */
  readThumbnail(object: string): Promise<OpenedObject | undefined>;
  /** Answers a GET or HEAD, or refuses in OpenAI's envelope. The caller has checked the access. */
  serve(request: IncomingMessage, response: ServerResponse, order: ServeOrder): Promise<void>;
  /** Answers a signed link. Returns false, without an answer, if the path is not a link. */
  serveLink(request: IncomingMessage, response: ServerResponse): Promise<boolean>;
}

export function mediaBytes(deps: PutDeps & BeginUploadDeps & LinkDeps & FileDeps): MediaBytes {
  return {
    put: async (source, options) => {
      const { id, blob, expiresAt } = await putBytes(deps, source, options);
      return { object: id, bytes: blob.bytes, expiresAt };
    },
    putFile: (source, file) => receiveFile(deps, source, file),
    beginUpload: async (order) => {
      const { id, bytes } = await beginUpload(deps, order);
      return { upload: id, bytesMax: bytes };
    },
    endUpload: (upload) => deps.store.endUpload(upload),
    remove: async (objects) => {
      await removeBytes(deps, await deps.store.removeObjects(objects, ['inline', 'private'], deps.clock.now()));
    },
    read: async (object, range) => openKept(deps, await deps.store.find(object), range),
    readThumbnail: async (object) => {
      const result = await deps.store.find(object);
      if (result === undefined || !isKept(result, deps.clock.now())) return undefined;
      return openKept(deps, await deps.thumbnailOf(result));
    },
    serve: (request, response, order) => serveObject(deps, request, response, order),
    serveLink: (request, response) => serveLink(deps, request, response),
  };
}

async function openKept(
  { blobs, clock }: LinkDeps,
  found: MediaObject | undefined,
  range?: ByteRange,
): Promise<OpenedObject | undefined> {
  if (found === undefined || !isKept(found, clock.now())) return undefined;
  const { key, bytes, sha256 } = found.blob;
  const stream = await blobs.open(key, range);
  return stream && { stream, bytes, sha256, mediaType: readMediaType(found) };
}
