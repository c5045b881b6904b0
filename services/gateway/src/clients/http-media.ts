import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import type { SecureContextOptions } from 'node:tls';
import { Agent, buildConnector, request as send } from 'undici';
import type { Clock } from '@reelgate/platform/clock';
import type { Problem } from '@reelgate/platform/problem';
import { requestIdHeader } from '@reelgate/platform/request-context';
import type { Secret } from '@reelgate/platform/secret';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import { isUnreachable } from '@reelgate/platform/unreachable';
import { repeatRequest } from '@reelgate/platform/http/repeat-request';
import { rotatingLookup } from '@reelgate/platform/http/rotating-lookup';
import { AnswerClosed, writeThrough } from '@reelgate/platform/http/write-response';
import { newBytesClient } from './bytes-client.ts';
import type { BytesClient } from './bytes-client.ts';
import type { MediaPort, Picture, ServedObject } from './media-port.ts';
import { PUT_REFUSALS, parsePut } from './put-answer.ts';
import { refuse } from '../refusals.ts';

const CONNECTIONS_MAX = 256;
const CONNECT_TIMEOUT_MS = 2000;
/** Until the head of an answer. Media answers a put once the bytes are safe. */
const HEAD_TIMEOUT_MS = 15_000;
const PUT_TIMEOUT_MS = 120_000;
/** A client waits for the removal. Bytes that are not removed in time expire. */
const REMOVE_TIMEOUT_MS = 5000;
/** Between two chunks of an answer. */
const IDLE_TIMEOUT_MS = 30_000;
const ANSWER_BYTES_MAX = 64 * 1024;

const REQUEST_HEADERS = ['range', 'if-range', 'if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since'];
const ANSWER_HEADERS = [
  'content-type',
  'content-length',
  'content-range',
  'accept-ranges',
  'etag',
  'last-modified',
  'content-disposition',
  'cache-control',
  'content-security-policy',
  'x-content-type-options',
  'location',
];
/** Statuses that answer a conditional or partial request, or redirect to the bucket. They are not faults. */
const PASSED_STATUSES: ReadonlySet<number> = new Set([200, 206, 302, 304, 412, 416]);

export interface HttpMediaOptions {
  /** Such as `http://127.0.0.1:9113`, without a slash at its end. */
  readonly baseUrl: string;
  /** The key between our own services. */
  readonly key: Secret;
  readonly clock: Clock;
  /** The newest certificates, for an `https:` address. */
  readonly secureContext?: (() => SecureContextOptions) | undefined;
  /** The function that resolves names. By default the system resolves them, with another address first each time. */
  readonly lookup?: LookupFunction | undefined;
}

/**
 * The media service over its HTTP port, for a gateway in its own process. Bytes pass through and are never held whole.
 */
export function httpMedia(options: HttpMediaOptions): MediaPort & { close(): Promise<void> } {
  const { baseUrl, key, clock, secureContext = () => ({}), lookup = rotatingLookup() } = options;
  const agent = new Agent({
    connections: CONNECTIONS_MAX,
    // A connection for each request: the name is resolved anew, and no request meets a connection that just closes.
    pipelining: 0,
    connect: (address, opened) =>
      buildConnector({ ...secureContext(), lookup, timeout: CONNECT_TIMEOUT_MS })(address, opened),
    headersTimeout: HEAD_TIMEOUT_MS,
    bodyTimeout: IDLE_TIMEOUT_MS,
  });
  const bytes = newBytesClient({ secureContext, lookup });
  const authorization = `Bearer ${key.reveal()}`;
  return {
    put: (bytes, { accountId, bytesMax }) =>
      putBytes(bytes, { url: buildPutUrl(baseUrl, { account: accountId, bytes_max: bytesMax }), authorization, agent }),
    putPrivate: (bytes, { accountId, keepMs, object }) =>
      putBytes(bytes, {
        url: buildPutUrl(baseUrl, { account: accountId, private_ms: keepMs, object }),
        authorization,
        agent,
      }),
    putFile: async (bytes, { accountId, id }) => {
      const url = buildPutUrl(baseUrl, { account: accountId, file: id });
      return (await putBytes(bytes, { url, authorization, agent })).bytes;
    },
    remove: async (objects) => {
      for (const object of objects)
        await removeObject({ url: `${baseUrl}/bytes/${encodeURIComponent(object)}`, authorization, agent });
    },
    read: (object) => fetchObject({ url: `${baseUrl}/bytes/${encodeURIComponent(object)}`, authorization, agent }),
    readThumbnail: (object) =>
      fetchObject({
        url: `${baseUrl}/bytes/${encodeURIComponent(object)}${buildServeQuery({ variant: 'thumbnail', direct: true })}`,
        authorization,
        agent,
      }),
    serve: (request, response, { object, fileName, ...how }) =>
      passThrough({
        request,
        response,
        clock,
        bytes,
        url: `${baseUrl}/bytes/${encodeURIComponent(object)}${buildServeQuery(how)}`,
        authorization,
        fileName,
        variant: how.variant,
      }),
    serveLink: (request, response) =>
      passThrough({ request, response, clock, bytes, url: `${baseUrl}${request.url ?? ''}` }),
    close: () => agent.close(),
  };
}

const NO_PICTURE = { thumbnail: 'thumbnail_unavailable', last_frame: 'last_frame_unavailable' } as const;

function buildServeQuery({ variant, direct }: Partial<ServedObject>): string {
  const parts = [...(direct === true ? ['redirect=no'] : []), ...(variant === undefined ? [] : [`variant=${variant}`])];
  return parts.length === 0 ? '' : `?${parts.join('&')}`;
}

interface MediaRequest {
  readonly url: string;
  readonly authorization: string;
  readonly agent: Agent;
}

function buildPutUrl(baseUrl: string, query: Readonly<Record<string, string | number | undefined>>): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  );
  return `${baseUrl}/bytes?${pairs.join('&')}`;
}

async function putBytes(
  body: Buffer | Readable,
  { url, authorization, agent }: MediaRequest,
): Promise<{ object: string; bytes: number }> {
  const put = (): ReturnType<typeof send> =>
    send(url, {
      method: 'PUT',
      body,
      dispatcher: agent,
      headers: { authorization, ...requestIdHeader(), 'content-type': 'application/octet-stream' },
      headersTimeout: PUT_TIMEOUT_MS,
    });
  // A stream can be sent once.
  const answer = await reach(Buffer.isBuffer(body) ? repeatRequest(put, { mayRepeat: isUnreachable }) : put());
  const { object, bytes = 0, error } = parsePut(await readShortText(answer.body));
  const refused = PUT_REFUSALS[answer.statusCode];
  if (refused !== undefined) throw refused(error, answer.headers['retry-after']);
  if (answer.statusCode !== 200 || object === undefined)
    throw serviceUnavailable(new Error(`media answered a put with ${answer.statusCode}`));
  return { object, bytes };
}

const GONE: ReadonlySet<number> = new Set([404, 410]);

async function removeObject({ url, authorization, agent }: MediaRequest): Promise<void> {
  const answer = await reach(
    repeatRequest(() =>
      send(url, {
        method: 'DELETE',
        dispatcher: agent,
        headers: { authorization, ...requestIdHeader() },
        headersTimeout: REMOVE_TIMEOUT_MS,
      }),
    ),
  );
  await answer.body.dump();
  if (answer.statusCode !== 204)
    throw serviceUnavailable(new Error(`media answered a removal with ${answer.statusCode}`));
}

async function fetchObject({ url, authorization, agent }: MediaRequest): Promise<Readable | undefined> {
  const headers = { authorization, ...requestIdHeader(), 'accept-encoding': 'identity' };
  const answer = await reach(repeatRequest(() => send(url, { dispatcher: agent, headers })));
  if (answer.statusCode === 200) return answer.body;
  await answer.body.dump();
  if (GONE.has(answer.statusCode)) return undefined;
  throw serviceUnavailable(new Error(`media answered ${answer.statusCode}`));
}

interface PassOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly clock: Clock;
  readonly bytes: BytesClient;
  readonly url: string;
  /** Absent for links, which carry their own authorization. */
  readonly authorization?: string;
  readonly fileName?: string;
  readonly variant?: Picture | undefined;
}

async function passThrough({
  request,
  response,
  clock,
  bytes,
  url,
  authorization,
  fileName,
  variant,
}: PassOptions): Promise<void> {
  const headers = {
    ...pickHeaders(request.headers, REQUEST_HEADERS),
    'accept-encoding': 'identity',
    ...requestIdHeader(),
    ...(authorization === undefined ? {} : { authorization }),
    ...(fileName === undefined ? {} : { 'x-file-name': fileName }),
  };
  const method = request.method === 'HEAD' ? 'HEAD' : 'GET';
  const { head, pieces, close } = await reach(
    repeatRequest(() =>
      bytes.request({
        url: new URL(url),
        method,
        headers,
        headTimeoutMs: HEAD_TIMEOUT_MS,
        idleTimeoutMs: IDLE_TIMEOUT_MS,
      }),
    ),
  );
  const status = head.statusCode ?? 500;
  // the media service writes the refusal of a link for the client
  const isLinkRefusal = authorization === undefined && status >= 400 && status < 500;
  if (!PASSED_STATUSES.has(status) && !isLinkRefusal) {
    close();
    throw toMediaProblem(status, variant);
  }
  response.writeHead(status, pickHeaders(head.headers, ANSWER_HEADERS));
  try {
    await writeThrough(pieces, response, { clock });
  } catch (error) {
    response.destroy();
    if (!(error instanceof AnswerClosed)) throw error;
  } finally {
    close();
  }
}

async function reach<T>(call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw serviceUnavailable(error);
  }
}

function toMediaProblem(status: number, variant: Picture | undefined): Problem {
  if (status === 404 && variant !== undefined) return refuse(NO_PICTURE[variant]);
  if (status === 410) return refuse('result_expired', { message: 'the result is no longer kept' });
  if (status >= 400 && status < 500) return refuse('not_found', { message: 'this link leads to no object' });
  return serviceUnavailable(new Error(`media answered ${status}`));
}

function pickHeaders(headers: IncomingHttpHeaders, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );
}

async function readShortText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw serviceUnavailable(new Error('media answered too much'));
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
