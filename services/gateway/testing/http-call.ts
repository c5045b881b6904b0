import http from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { TOKEN } from './fake-services.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The parsed body; undefined if it is not JSON. */
  readonly json: ReturnType<typeof JSON.parse>;
}

export interface CallOptions {
  /** Sent as JSON unless it is a string or bytes. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** null: send no token. */
  readonly token?: string | null;
  readonly agent?: http.Agent;
}

/** Sends one request, without normalizing anything. */
export function call(
  base: string,
  method: string,
  path: string,
  { body, headers = {}, token = TOKEN, agent }: CallOptions = {},
): Promise<Answer> {
  const payload =
    body === undefined ? undefined : typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const { hostname, port } = new URL(base);
  const all = {
    ...(token === null ? {} : { authorization: `Bearer ${token}` }),
    ...(payload === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(payload)) }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const request = http.request({ hostname, port, method, path, headers: all, agent: agent ?? false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parse(text) });
      });
    });
    request.on('error', reject);
    request.end(payload);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
