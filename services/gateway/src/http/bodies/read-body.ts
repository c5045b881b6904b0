import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Problem } from '@reelgate/platform/problem';
import type { ClientBody } from '../../dialects/dialect.ts';
import { parseJson } from './parse-json.ts';
import { multipartParser } from './multipart-parser.ts';
import { readRawBody } from './read-raw-body.ts';
import { isShort, receiveBody } from './receive-body.ts';
import type { ReceiveOptions } from './receive-body.ts';

export interface ReadBodyOptions extends ReceiveOptions {
  readonly takesForms: boolean;
}

/**
 * Reads a body as JSON, or as a multipart form if the route takes forms. A body without a content type is read as JSON.
 */
export async function readBody(request: IncomingMessage, options: ReadBodyOptions): Promise<ClientBody> {
  const type = readBodyType(request.headers, options.takesForms);
  return type === 'form' ? receiveForm(request, options) : { json: await receiveJson(request, options) };
}

/** Reads the kind of a body from its headers. Refuses a kind that the route does not take. */
export function readBodyType(headers: IncomingHttpHeaders, takesForms: boolean): 'json' | 'form' {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity')
    throw mediaTypeProblem(`the body must not be compressed; content-encoding is ${encoding.slice(0, 40)}`);
  const [type = ''] = (headers['content-type'] ?? '')
    .toLowerCase()
    .split(';', 1)
    .map((part) => part.trim());
  if (type === '' || /^application\/([\w.-]+\+)?json$/.test(type)) return 'json';
  if (type === 'multipart/form-data' && takesForms) return 'form';
  throw mediaTypeProblem(
    `content-type must be application/json${takesForms ? ' or multipart/form-data' : ''}; it is ${type.slice(0, 80)}`,
  );
}

/** A short body waits for nothing, so its bytes are taken as they arrive. */
async function receiveJson(request: IncomingMessage, options: ReceiveOptions): Promise<unknown> {
  if (isShort(request)) return parseJson(await readRawBody(request, options));
  const chunks: Buffer[] = [];
  await receiveBody(request, options, (chunk) => void chunks.push(chunk));
  return parseJson(Buffer.concat(chunks));
}

async function receiveForm(request: IncomingMessage, options: ReceiveOptions): Promise<ClientBody> {
  const parser = multipartParser(request.headers, options.bytesMax);
  await receiveBody(request, options, parser.sink);
  return { form: await parser.end() };
}

function mediaTypeProblem(message: string): Problem {
  return new Problem({ kind: 'invalid', reason: 'unsupported_media_type', message });
}
