import type { Readable } from 'node:stream';
import type { MediaKind } from '../domain/order.ts';
import type { LookupFunction } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { Agent, buildConnector, request } from 'undici';
import type { Dispatcher } from 'undici';
import { repeatRequest } from '@reelgate/platform/http/repeat-request';
import { rotatingLookup } from '@reelgate/platform/http/rotating-lookup';
import { Problem, isProblem } from '@reelgate/platform/problem';
import { requestIdHeader } from '@reelgate/platform/request-context';
import type { Secret } from '@reelgate/platform/secret';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';

const STAGED_BYTES_MAX = 128 * 1024 * 1024;

/** A part of an object. */
export interface ByteSpan {
  readonly offset: number;
  /** Zero to get the facts of the object without its bytes. */
  readonly length: number;
}

export interface OpenedBytes {
  /** Of the whole object, in lower-case hexadecimal. Empty if it is not known. */
  readonly sha256: string;
  /** The bytes of the part, read only as fast as they are taken. It must be read or destroyed. */
  readonly stream: Readable;
}

export interface StagedBytesReader {
  /** Reads a staged media item whole, for a channel that takes it inside the request. */
  read(object: string, signal: AbortSignal): Promise<Buffer>;
}

export interface ObjectOpener {
  /** Opens a part of an object. Returns undefined if the object is no longer stored. */
  open(object: string, span: ByteSpan, signal: AbortSignal): Promise<OpenedBytes | undefined>;
}

export interface UploadStore {
  /** Reserves the bytes of an upload, or refuses it before its first byte. */
  beginUpload(upload: UploadRequest): Promise<Reservation>;
  /** Stores the bytes of an upload. If the stream fails, the upload is dropped. */
  put(stream: Readable, upload: { readonly accountId: string; readonly upload: string }): Promise<StoredUpload>;
  /** Gives up an upload that was not stored. An upload that has ended is not an error. */
  endUpload(upload: string): Promise<void>;
  /** Removes the object of an upload. An object that is already gone is not an error. */
  remove(object: string): Promise<void>;
}

/** The bytes of media. */
export interface MediaBytes extends StagedBytesReader, ObjectOpener, UploadStore {}

export interface UploadRequest {
  readonly accountId: string;
  readonly kind: MediaKind;
  /** Empty if no type is declared. */
  readonly declaredType: string;
  /** Undefined if it is not known. */
  readonly bytes: number | undefined;
}

export interface Reservation {
  readonly upload: string;
  readonly bytesMax: number;
}

export interface StoredUpload {
  readonly object: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Reads a whole stream, up to the size limit of staged media. */
export async function collect(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stream) {
    bytes += part.length;
    if (bytes > STAGED_BYTES_MAX) throw new Error(`a staged object has more than ${STAGED_BYTES_MAX} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const CALL_TIMEOUT_MS = 15_000;
/** Longer than the longest upload and the time to store it. */
const PUT_TIMEOUT_MS = 330_000;
const ANSWER_BYTES_MAX = 64 * 1024;
/** Used when media names no time. Nothing is stored, so a repeat is safe. */
const RETRY_S = 1;
/** The refusals that are the uploader's to know. Any other answer is a fault between our services. */
const KINDS: Readonly<Record<number, 'invalid' | 'exhausted' | 'unavailable'>> = {
  400: 'invalid',
  413: 'invalid',
  429: 'exhausted',
  503: 'unavailable',
};

const CONNECT_TIMEOUT_MS = 10_000;
const READ_TIMEOUT_MS = 60_000;
const READ_RETRY_MS = 1000;
const GONE: ReadonlySet<number> = new Set([404, 410]);
const ETAG = /^"([0-9a-f]{64})"$/;

/** Reads and writes over the HTTP port of the media service. */
export function httpMediaBytes(
  baseUrl: string,
  key: Secret,
  /** The newest certificates, for an `https:` address. */
  secureContext: () => SecureContextOptions = () => ({}),
  /** Resolves host names. */
  lookup: LookupFunction = rotatingLookup(),
): MediaBytes {
  const dispatcher = new Agent({
    // A connection for each request: the name is resolved anew, and no request meets a connection that just closes.
    pipelining: 0,
    connect: (options, opened) =>
      buildConnector({ ...secureContext(), lookup, timeout: CONNECT_TIMEOUT_MS })(options, opened),
  });
  const authorization = `Bearer ${key.reveal()}`;
  const buildBytesUrl = (object: string): string => `${baseUrl}/bytes/${encodeURIComponent(object)}`;
  const get = (url: string, headers: Readonly<Record<string, string>>, options: GetOptions) =>
    repeatRequest(
      () =>
        request(url, {
          ...options,
          dispatcher,
          headers: { authorization, ...requestIdHeader(), ...headers },
          headersTimeout: READ_TIMEOUT_MS,
          bodyTimeout: READ_TIMEOUT_MS,
        }),
      options,
    );
  return {
    read: async (object, signal) => {
      const answer = await get(buildBytesUrl(object), {}, { signal });
      if (answer.statusCode !== 200) {
        await answer.body.dump();
        throw new Error(`the media service answered ${answer.statusCode} for a staged object`);
      }
      return collect(answer.body);
    },
    open: async (object, span, signal) => {
      try {
        const answer = await get(
          `${buildBytesUrl(object)}?redirect=no`,
          { 'accept-encoding': 'identity', ...toRangeHeader(span) },
          { signal, method: span.length === 0 ? 'HEAD' : 'GET' },
        );
        return await readOpenedBytes(answer);
      } catch (error) {
        throw signal.aborted ? error : serviceUnavailable(error, READ_RETRY_MS);
      }
    },
    ...httpUploads(baseUrl, authorization, dispatcher),
  };
}

interface GetOptions {
  readonly signal: AbortSignal;
  readonly method?: 'GET' | 'HEAD';
}

function toRangeHeader({ offset, length }: ByteSpan): Record<string, string> {
  return length === 0 ? {} : { range: `bytes=${offset}-${offset + length - 1}` };
}

async function readOpenedBytes({
  statusCode,
  headers,
  body,
}: Dispatcher.ResponseData): Promise<OpenedBytes | undefined> {
  if (statusCode === 200 || statusCode === 206)
    return { stream: body, sha256: ETAG.exec(String(headers['etag']))?.[1] ?? '' };
  await body.dump();
  if (GONE.has(statusCode)) return undefined;
  throw new Error(`the media service answered ${statusCode} for the bytes of a result`);
}

/** Uploads over the HTTP port of the media service. */
function httpUploads(baseUrl: string, authorization: string, dispatcher: Dispatcher): UploadStore {
  const call = async (path: string, options: CallOptions): Promise<Readonly<Record<string, unknown>>> => {
    try {
      return await readAnswer(
        await request(baseUrl + path, {
          headersTimeout: CALL_TIMEOUT_MS,
          bodyTimeout: CALL_TIMEOUT_MS,
          ...options,
          dispatcher,
          headers: { authorization, ...requestIdHeader() },
        }),
      );
    } catch (error) {
      throw isProblem(error) ? error : serviceUnavailable(error, RETRY_S * 1000);
    }
  };
  return {
    beginUpload: async ({ accountId, kind, declaredType, bytes }) => {
      const query = new URLSearchParams({ account: accountId, kind, declared_type: declaredType });
      if (bytes !== undefined) query.set('bytes', String(bytes));
      const answer = await call(`/bytes/uploads?${query.toString()}`, { method: 'POST' });
      return { upload: String(answer['upload']), bytesMax: Number(answer['bytes_max']) };
    },
    put: async (body, { accountId, upload }) => {
      const query = new URLSearchParams({ account: accountId, upload });
      const answer = await call(`/bytes?${query.toString()}`, { method: 'PUT', body, headersTimeout: PUT_TIMEOUT_MS });
      return {
        object: String(answer['object']),
        bytes: Number(answer['bytes']),
        expiresAt: Number(answer['expires_at']),
      };
    },
    endUpload: async (upload) => {
      await call(`/bytes/uploads/${encodeURIComponent(upload)}`, { method: 'DELETE' });
    },
    remove: async (object) => {
      await call(`/bytes/${encodeURIComponent(object)}`, { method: 'DELETE' });
    },
  };
}

interface CallOptions {
  readonly body?: Readable;
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly headersTimeout?: number;
}

async function readAnswer({
  statusCode,
  headers,
  body,
}: Dispatcher.ResponseData): Promise<Readonly<Record<string, unknown>>> {
  const text = await readShortText(body);
  if (statusCode === 204) return {};
  const answer = JSON.parse(text) as Record<string, unknown>;
  if (statusCode === 200) return answer;
  const kind = KINDS[statusCode];
  const { code, message } = (answer['error'] ?? {}) as { readonly code?: string; readonly message?: string };
  if (kind === undefined || code === undefined || message === undefined)
    throw new Error(`the media service answered ${statusCode} for an upload`);
  const retryAfterMs = kind === 'invalid' ? undefined : (Number(headers['retry-after']) || RETRY_S) * 1000;
  throw new Problem({ kind, reason: code, message, retryAfterMs });
}

async function readShortText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error('the media service answered too much');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
