import { Readable } from 'node:stream';
import { Pool } from 'undici';
import type { UpstreamAnswer } from '../toolkit.ts';

const ANSWER_BYTES_MAX = 4 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 5000;
const CONNECTIONS_MAX = 16;

/** Forms over HTTP to one upstream, with the toolkit's promises: every call has a deadline, every answer a bound, and every failure a kind. */
export interface FormSender {
  post(path: string, form: FormData, signal: AbortSignal): Promise<UpstreamAnswer>;
  close(): Promise<void>;
}

export function formSender(baseUrl: string, timeoutMs: number, headers: () => Readonly<Record<string, string>>): FormSender {
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/$/, '');
  const pool = new Pool(origin, { connections: CONNECTIONS_MAX, connect: { timeout: CONNECT_TIMEOUT_MS } });
  return {
    post: async (path, form, signal) => {
      const encoded = new Response(form);
      const bytes = Buffer.from(await encoded.arrayBuffer());
      // A body is first read when there is a connection to write it to: until then the upstream has taken nothing.
      let begun = false;
      const body = Readable.from((function* () {
        begun = true;
        yield bytes;
      })());
      try {
        const answer = await pool.request({
          method: 'POST', path: prefix + path, body, signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]), headersTimeout: timeoutMs, bodyTimeout: timeoutMs,
          headers: { ...headers(), 'content-type': encoded.headers.get('content-type') ?? '', 'content-length': String(bytes.length) },
        });
        const text = await readBounded(answer.body);
        return { kind: 'answer', status: answer.statusCode, body: parse(text), retryAfterMs: retryAfter(answer.headers['retry-after']) };
      } catch (error) {
        return { kind: begun ? 'lost' : 'unreachable', error: String(error) };
      }
    },
    close: () => pool.destroy(),
  };
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of body) {
    bytes += part.length;
    if (bytes > ANSWER_BYTES_MAX) throw new Error('the answer is too long');
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function retryAfter(header: string | string[] | undefined): number | undefined {
  const seconds = Number(header);
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1000 : undefined;
}
