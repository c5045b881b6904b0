import type { LookupFunction } from 'node:net';
import type { SecureContextOptions } from 'node:tls';
import { rotatingLookup } from '@reelgate/platform/http/rotating-lookup';
import type { Secret } from '@reelgate/platform/secret';
import { requestIdHeader } from '@reelgate/platform/request-context';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import { Agent, buildConnector, request } from 'undici';
import type { Dispatcher } from 'undici';
import { httpUploads } from './http-uploads.ts';
import { collect } from './media-bytes.ts';
import type { ByteSpan, MediaBytes, OpenedBytes } from './media-bytes.ts';

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
    connect: (options, opened) => {
      buildConnector({ ...secureContext(), lookup, timeout: CONNECT_TIMEOUT_MS })(options, opened);
    },
  });
  const authorization = `Bearer ${key.reveal()}`;
  const buildBytesUrl = (object: string): string => `${baseUrl}/bytes/${encodeURIComponent(object)}`;
  const get = (url: string, headers: Readonly<Record<string, string>>, options: GetOptions) =>
    request(url, {
      ...options,
      dispatcher,
      headers: { authorization, ...requestIdHeader(), ...headers },
      headersTimeout: READ_TIMEOUT_MS,
      bodyTimeout: READ_TIMEOUT_MS,
    });
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
