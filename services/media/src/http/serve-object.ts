import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import send from 'send';
import type { Clock } from '@reelgate/platform/clock';
import type { BlobStore, LocalFile } from '../blobs/blob-store.ts';
import { FORMATS } from '../domain/formats.ts';
import { isKept } from '../domain/media-object.ts';
import type { MediaObject } from '../domain/media-object.ts';
import type { MediaStore } from '../store/media-store.ts';
import { BROKEN, NOT_FOUND, RESULT_EXPIRED, refuse } from './refuse.ts';

const READ_CHUNK_BYTES = 256 * 1024;
const CACHE_SECONDS_MAX = 3600;
const UNKNOWN_TYPE = 'application/octet-stream';

export interface ServeDeps {
  readonly store: MediaStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
}

export interface ServeOrder {
  readonly object: string;
  /** As a browser saves it; made from the object's id when there is none. */
  readonly fileName?: string | undefined;
  /** Milliseconds since 1970: an end that comes before the object's own. */
  readonly expiresAt?: number | undefined;
}

/** Answers a GET or HEAD with an object's bytes, ranges and conditions included. Who may ask has been decided before. */
export async function serveObject(deps: ServeDeps, request: IncomingMessage, response: ServerResponse, order: ServeOrder): Promise<void> {
  const found = await deps.store.find(order.object);
  if (found === undefined) {
    refuse(request, response, NOT_FOUND);
    return;
  }
  const now = deps.clock.now();
  const expiresAt = Math.min(found.expiresAt, order.expiresAt ?? found.expiresAt);
  if (!isKept(found, now) || expiresAt <= now) {
    refuse(request, response, RESULT_EXPIRED);
    return;
  }
  setHeaders(response, found, { fileName: order.fileName, secondsLeft: Math.floor((expiresAt - now) / 1000) });
  const file = deps.blobs.fileOf(found.blob.key);
  if (file === undefined) await sendWhole(deps.blobs, found, { request, response });
  else await sendFile(file, request, response);
}

export function mediaTypeOf({ blob }: MediaObject): string {
  return blob.facts?.mediaType ?? UNKNOWN_TYPE;
}

/** No header of where the bytes came from is among them; a page that is smuggled in as media gets no rights. */
function setHeaders(response: ServerResponse, found: MediaObject, { fileName, secondsLeft }: { fileName: string | undefined; secondsLeft: number }): void {
  const extension = FORMATS[mediaTypeOf(found)]?.extension ?? 'bin';
  const name = (fileName ?? `${found.id}.${extension}`).replace(/[^A-Za-z0-9._-]/g, '_');
  const headers = {
    'Content-Type': mediaTypeOf(found),
    'Content-Disposition': `inline; filename="${name}"`,
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cache-Control': `private, max-age=${String(Math.min(CACHE_SECONDS_MAX, secondsLeft))}`,
    ETag: `"${found.blob.sha256}"`,
    'Last-Modified': new Date(found.createdAt).toUTCString(),
  };
  for (const [header, value] of Object.entries(headers)) response.setHeader(header, value);
}

async function sendFile({ root, name }: LocalFile, request: IncomingMessage, response: ServerResponse): Promise<void> {
  // who asked may have gone while the object was looked for
  if (response.closed || response.destroyed) return;
  await new Promise<void>((resolve) => {
    response.once('close', () => { resolve(); });
    const options = { root, dotfiles: 'deny', index: false, cacheControl: false, etag: false, lastModified: false, highWaterMark: READ_CHUNK_BYTES } as const;
    send(request, name, options)
      .on('error', (error: SendError) => {
        const range = error.headers?.['Content-Range'];
        refuse(request, response, { ...(REFUSALS[error.status ?? 500] ?? BROKEN), ...(range === undefined ? {} : { headers: { 'content-range': range } }) });
      })
      .pipe(response);
  });
}

interface SendError extends Error {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const REFUSALS: Readonly<Record<number, { status: number; code: string; message: string }>> = {
  404: NOT_FOUND,
  412: { status: 412, code: 'precondition_failed', message: 'The condition of the request does not hold.' },
  416: { status: 416, code: 'range_not_satisfiable', message: 'The range lies outside of the bytes.' },
};

/** Where the bytes do not lie on this machine's disk: whole, since ranges are an offer. */
async function sendWhole(blobs: BlobStore, { blob }: MediaObject, { request, response }: { request: IncomingMessage; response: ServerResponse }): Promise<void> {
  const source = request.method === 'HEAD' ? undefined : await blobs.open(blob.key);
  response.setHeader('Content-Length', blob.bytes);
  if (request.method === 'HEAD') response.end();
  else if (source === undefined) refuse(request, response, NOT_FOUND);
  else await pipeline(source, response);
}
