import type { IncomingMessage } from 'node:http';
import { bodyBytesMax } from '../limits.ts';
import { invalidParams, Refusal } from '../refusal.ts';

/** Reads a JSON body. Refuses a body that is too long, by its declared length or while it arrives. */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) throw tooLong();
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    parts.push(part);
    size += part.length;
    if (size > bodyBytesMax) throw tooLong();
  }
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch {
    throw invalidParams('the body is not JSON');
  }
}

function tooLong(): Refusal {
  return new Refusal({
    http: 413,
    type: 'bad_request_error',
    code: 2013,
    text: `invalid params, the body has more than ${bodyBytesMax} bytes`,
  });
}
