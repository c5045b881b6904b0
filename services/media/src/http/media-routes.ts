import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '@reelgate/platform/log';
import { Problem } from '@reelgate/platform/problem';
import { toProblem } from '@reelgate/platform/rpc/problems';
import type { HttpRoute } from '@reelgate/platform/http/http-port';
import { isPicture } from '../domain/media-object.ts';
import type { Picture } from '../domain/media-object.ts';
import { formatBytes } from '../domain/media-rules.ts';
import type { MediaBytes, UploadBytes } from './media-bytes.ts';
import { BROKEN, NOT_FOUND, refuse, unavailable, toBytesRefusal, tooLarge } from './refuse.ts';
import type { Refusal } from './refuse.ts';
import type { Family } from '../domain/formats.ts';
import type { UploadOrder } from '../operations/bytes/reserve-bytes.ts';

const OBJECT_PATH = /^\/bytes\/([A-Za-z0-9_-]{1,64})$/;
/** The names that other services give to private bytes. */
const PRIVATE_NAME = /^prv_[A-Za-z0-9_-]{20,60}$/;
const READS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD']);
const UNAUTHENTICATED = 401;
const FORBIDDEN = 403;
const NO_LIFETIME: Refusal = {
  status: 400,
  code: 'invalid_request',
  message: 'private_ms must be the milliseconds for which private bytes are stored',
};
const NO_NAME: Refusal = {
  status: 400,
  code: 'invalid_request',
  message: 'object is for private bytes only; expected ?private_ms=…&object=prv_…',
};
const NO_ACCOUNT: Refusal = { status: 400, code: 'invalid_request', message: 'account is required: ?account=…' };
const UPLOAD_PATH = /^\/bytes\/uploads(?:\/([A-Za-z0-9_-]{1,64}))?$/;
const FAMILIES: readonly Family[] = ['image', 'video', 'audio'];
const NO_ORDER: Refusal = {
  status: 400,
  code: 'invalid_request',
  message: 'account and kind are required: ?account=…&kind=image|video|audio, and bytes must be a number above zero',
};

export interface RouteDeps {
  readonly bytes: MediaBytes;
  readonly inline: { readonly bytesMax: number };
  /** Refuses, by its authorization header, a caller other than the gateway and the tasks service. */
  readonly authorize: (authorization: string | undefined) => void;
  readonly log: Log;
}

/**
 * `/ximg/…` for every client that has a link; `PUT /bytes`, `GET|HEAD|DELETE /bytes/{object}`, `POST /bytes/uploads`
 * and `DELETE /bytes/uploads/{upload}` for the other services.
 */
export function mediaRoutes(deps: RouteDeps): readonly HttpRoute[] {
  const route =
    (takes: (path: string) => boolean, handle: Handler): HttpRoute =>
    (request, response) => {
      if (!takes((request.url ?? '').split('?', 1)[0] ?? '')) return false;
      handle(deps, request, response).catch((error: unknown) => {
        deps.log.error({ err: error }, 'bytes were not served');
        const problem = toProblem(error);
        refuse(request, response, problem.kind === 'unavailable' ? unavailable(problem) : BROKEN);
      });
      return true;
    };
  return [
    route(
      (path) => path.startsWith('/ximg/'),
      async ({ bytes }, request, response) => {
        await bytes.serveLink(request, response);
      },
    ),
    route((path) => path === '/bytes' || path.startsWith('/bytes/'), handleBytes),
  ];
}

type Handler = (deps: RouteDeps, request: IncomingMessage, response: ServerResponse) => Promise<void>;

async function handleBytes(deps: RouteDeps, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const refusal = findCallerRefusal(deps, request);
  if (refusal !== undefined) {
    refuse(request, response, refusal);
    return;
  }
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://bytes');
  const object = OBJECT_PATH.exec(pathname)?.[1];
  if (pathname === '/bytes' && request.method === 'PUT' && searchParams.has('file'))
    await takeFile(deps, request, response, searchParams);
  else if (pathname === '/bytes' && request.method === 'PUT') await takeBytes(deps, request, response, searchParams);
  else if (isUploadPath(pathname)) await answerUpload(deps.bytes, request, response);
  else if (object !== undefined && READS.has(request.method))
    await deps.bytes.serve(request, response, {
      object,
      fileName: readFileName(request),
      variant: readPicture(searchParams.get('variant')),
      direct: searchParams.get('redirect') === 'no',
    });
  else if (object !== undefined && request.method === 'DELETE') await removeObject(deps, response, object);
  else refuse(request, response, NOT_FOUND);
}

/** Any other word means the object itself. */
function readPicture(variant: string | null): Picture | undefined {
  const purpose = variant as Picture | null;
  return purpose !== null && isPicture(purpose) ? purpose : undefined;
}

async function removeObject({ bytes }: RouteDeps, response: ServerResponse, object: string): Promise<void> {
  await bytes.remove([object]);
  response.writeHead(204).end();
}

/** Returns the refusal of a caller that is not allowed to read or send bytes, or undefined if it is allowed. */
function findCallerRefusal({ authorize }: RouteDeps, { headers }: IncomingMessage): Refusal | undefined {
  try {
    authorize(headers.authorization);
    return undefined;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return {
      status: error.kind === 'unauthenticated' ? UNAUTHENTICATED : FORBIDDEN,
      code: error.reason,
      message: error.message,
    };
  }
}

function readFileName({ headers }: IncomingMessage): string | undefined {
  const name = headers['x-file-name'];
  return typeof name === 'string' ? name : undefined;
}

async function takeBytes(
  { bytes, inline }: RouteDeps,
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
): Promise<void> {
  const accountId = query.get('account') ?? '';
  const privateMs = query.has('private_ms') ? Number(query.get('private_ms')) : undefined;
  const object = query.get('object') ?? undefined;
  const fault = findQueryRefusal({ accountId, privateMs, object });
  if (fault !== undefined) {
    refuse(request, response, fault);
    return;
  }
  if (Number(request.headers['content-length'] ?? 0) > inline.bytesMax) {
    refuse(request, response, tooLarge(`the bytes must be at most ${formatBytes(inline.bytesMax)}`));
    return;
  }
  try {
    const bytesMax = Number(query.get('bytes_max') ?? NaN);
    const stored = await bytes.put(request, {
      accountId,
      privateMs,
      object,
      upload: query.get('upload') ?? undefined,
      bytesMax: Number.isSafeInteger(bytesMax) ? bytesMax : undefined,
    });
    sendJson(response, { object: stored.object, bytes: stored.bytes, expires_at: stored.expiresAt });
  } catch (error) {
    refuse(request, response, toBytesRefusal(error));
  }
}

/** Takes the bytes of a reserved file, which limits them. */
async function takeFile(
  { bytes }: RouteDeps,
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
): Promise<void> {
  try {
    const id = query.get('file') ?? '';
    sendJson(response, {
      object: id,
      bytes: await bytes.putFile(request, { accountId: query.get('account') ?? '', id }),
    });
  } catch (error) {
    refuse(request, response, toBytesRefusal(error));
  }
}

function findQueryRefusal({
  accountId,
  privateMs,
  object,
}: {
  readonly accountId: string;
  readonly privateMs: number | undefined;
  readonly object: string | undefined;
}): Refusal | undefined {
  if (privateMs !== undefined && !(Number.isSafeInteger(privateMs) && privateMs > 0)) return NO_LIFETIME;
  if (object !== undefined && !(privateMs !== undefined && PRIVATE_NAME.test(object))) return NO_NAME;
  return accountId === '' ? NO_ACCOUNT : undefined;
}

function isUploadPath(pathname: string): boolean {
  return UPLOAD_PATH.test(pathname);
}

/** Answers `POST /bytes/uploads` and `DELETE /bytes/uploads/{upload}`. */
async function answerUpload(bytes: UploadBytes, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://bytes');
  const upload = UPLOAD_PATH.exec(pathname)?.[1];
  if (upload === undefined && request.method === 'POST') await begin(bytes, request, response, searchParams);
  else if (upload !== undefined && request.method === 'DELETE') {
    await bytes.endUpload(upload);
    response.writeHead(204).end();
  } else refuse(request, response, NOT_FOUND);
}

async function begin(
  bytes: UploadBytes,
  request: IncomingMessage,
  response: ServerResponse,
  query: URLSearchParams,
): Promise<void> {
  const order = readUploadOrder(query);
  if (order === undefined) {
    refuse(request, response, NO_ORDER);
    return;
  }
  try {
    const { upload, bytesMax } = await bytes.beginUpload(order);
    sendJson(response, { upload, bytes_max: bytesMax });
  } catch (error) {
    refuse(request, response, toBytesRefusal(error));
  }
}

function readUploadOrder(query: URLSearchParams): UploadOrder | undefined {
  const accountId = query.get('account') ?? '';
  const family = FAMILIES.find((one) => one === query.get('kind'));
  const bytes = query.has('bytes') ? Number(query.get('bytes')) : undefined;
  if (accountId === '' || family === undefined) return undefined;
  if (bytes !== undefined && !(Number.isSafeInteger(bytes) && bytes > 0)) return undefined;
  return { accountId, family, declaredType: query.get('declared_type') ?? '', bytes };
}

function sendJson(response: ServerResponse, value: object): void {
  const body = JSON.stringify(value);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
}
