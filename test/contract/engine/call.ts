import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Form } from './form.ts';

const ANSWER_TIMEOUT_MS = 70_000;
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  readonly text: string;
  readonly json: unknown;
}

export interface Call {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Sends one request unchanged and reads the whole answer. */
export async function call({ url, method, headers, body }: Call): Promise<Answer> {
  const { contentType, bytes } = await encoded(body);
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const outgoing = send(
      url,
      {
        method,
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
        headers: {
          ...(contentType === undefined ? {} : { 'content-type': contentType }),
          ...(bytes === undefined ? {} : { 'content-length': String(bytes.length) }),
          ...headers,
        },
      },
      (incoming) => {
        const parts: Buffer[] = [];
        let size = 0;
        incoming.on('data', (part: Buffer) => {
          size += part.length;
          if (size > ANSWER_BYTES_MAX) outgoing.destroy(new Error(`the answer is over ${ANSWER_BYTES_MAX} bytes`));
          parts.push(part);
        });
        incoming.on('error', reject);
        incoming.on('end', () => {
          const whole = Buffer.concat(parts);
          const text = whole.toString();
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            bytes: whole,
            text,
            json: parsed(text),
          });
        });
      },
    );
    outgoing.on('error', reject);
    // A request that declares more bytes than it sends waits for its refusal.
    if (headers['content-length'] === undefined) outgoing.end(bytes);
    else outgoing.flushHeaders();
  });
}

async function encoded(
  body: unknown,
): Promise<{ readonly contentType: string | undefined; readonly bytes: Buffer | undefined }> {
  if (body === undefined) return { contentType: undefined, bytes: undefined };
  if (body instanceof Form) return body.encoded();
  if (Buffer.isBuffer(body)) return { contentType: 'application/octet-stream', bytes: body };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { contentType: 'application/json', bytes: Buffer.from(text) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
