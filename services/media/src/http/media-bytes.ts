import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { isSigned } from '@reelgate/platform/signatures';
import type { Secret } from '@reelgate/platform/secret';
import { isKept, readMediaType } from '../domain/media-object.ts';
import type { MediaObject } from '../domain/media-object.ts';
import type { ByteRange } from '../blobs/blob-store.ts';
import { beginUpload } from '../operations/bytes/reserve-bytes.ts';
import type { BeginUploadDeps, UploadOrder } from '../operations/bytes/reserve-bytes.ts';
import { putBytes } from '../operations/bytes/put-bytes.ts';
import type { PutDeps, PutOptions } from '../operations/bytes/put-bytes.ts';
import { receiveFile } from '../operations/files/keep-files.ts';
import type { FileDeps } from '../operations/files/keep-files.ts';
import { removeBytes } from '../operations/garbage/collect-garbage.ts';
import { serveObject } from './serve-object.ts';
import type { ServeOrder, ServeDeps } from './serve-object.ts';
import { refuse, RESULT_EXPIRED } from './refuse.ts';
import type { Refusal } from './refuse.ts';

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

const PATH = /^\/ximg\/([A-Za-z0-9_-]{1,64})\.[a-z0-9]{1,8}$/;
const SECONDS = /^\d{1,12}$/;
const WRONG: Refusal = {
  status: 403,
  code: 'invalid_link',
  message: 'this link is not valid; get the task again for a new one',
};
const NO_SUCH_METHOD: Refusal = {
  status: 405,
  code: 'method_not_allowed',
  message: 'the method must be GET or HEAD',
  headers: { allow: 'GET, HEAD' },
};

interface LinkDeps extends ServeDeps {
  readonly linkKeys: readonly Secret[];
}

/** Answers `/ximg/{object}.{ext}?exp&sig`, which needs the signature and no token. Returns false for another path. */
async function serveLink(deps: LinkDeps, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  if (!(request.url ?? '').startsWith('/ximg/')) return false;
  const link =
    request.method === 'GET' || request.method === 'HEAD'
      ? readLink(deps, request.url ?? '')
      : { refusal: NO_SUCH_METHOD };
  if ('refusal' in link) refuse(request, response, link.refusal);
  else await serveObject(deps, request, response, link);
  return true;
}

function readLink({ linkKeys, clock }: LinkDeps, url: string): ServeOrder | { readonly refusal: Refusal } {
  const [path = '', query = ''] = url.split(/\?(.*)/s, 2);
  const object = PATH.exec(path)?.[1];
  const values = new URLSearchParams(query);
  const [exp, sig] = [onlyValue(values, 'exp'), onlyValue(values, 'sig')];
  if (object === undefined || !SECONDS.test(exp) || !isSigned(linkKeys, path, Number(exp), sig))
    return { refusal: WRONG };
  const expiresAt = Number(exp) * 1000;
  return expiresAt <= clock.now()
    ? { refusal: RESULT_EXPIRED }
    : { object, fileName: path.slice('/ximg/'.length), expiresAt };
}

/** Empty if there is no value, or more than one. */
function onlyValue(query: URLSearchParams, name: string): string {
  const [first = '', ...others] = query.getAll(name);
  return others.length === 0 ? first : '';
}
