import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Family } from '../domain/formats.ts';
import type { UploadOrder } from '../operations/bytes/begin-upload.ts';
import type { UploadBytes } from './media-bytes.ts';
import { NOT_FOUND, refuse } from './refuse.ts';
import type { Refusal } from './refuse.ts';
import { toBytesRefusal } from './refused-bytes.ts';
import { sendJson } from './send-json.ts';

const PATH = /^\/bytes\/uploads(?:\/([A-Za-z0-9_-]{1,64}))?$/;
const FAMILIES: readonly Family[] = ['image', 'video', 'audio'];
const NO_ORDER: Refusal = {
  status: 400,
  code: 'invalid_request',
  message: 'account and kind are required: ?account=…&kind=image|video|audio, and bytes must be a number above zero',
};

export function isUploadPath(pathname: string): boolean {
  return PATH.test(pathname);
}

/** Answers `POST /bytes/uploads` and `DELETE /bytes/uploads/{upload}`. */
export async function answerUpload(
  bytes: UploadBytes,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://bytes');
  const upload = PATH.exec(pathname)?.[1];
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
