import { Readable } from 'node:stream';
import type { Clock } from '@reelgate/platform/clock';
import { exchange, openPool } from '../upstream-exchange.ts';
import type { UpstreamAnswer } from '../upstream-http.ts';

const CONNECTIONS_MAX = 16;

/** Forms over HTTP to one upstream. Every call has a deadline, every answer a size limit, and every failure a kind. */
export interface FormSender {
  post(path: string, form: FormData, signal: AbortSignal): Promise<UpstreamAnswer>;
  close(): Promise<void>;
}

export function formSender(
  { baseUrl, clock, timeoutMs }: { readonly baseUrl: string; readonly clock: Clock; readonly timeoutMs: number },
  headers: () => Readonly<Record<string, string>>,
): FormSender {
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/$/, '');
  const pool = openPool(origin, CONNECTIONS_MAX);
  return {
    post: async (path, form, signal) => {
      const encoded = new Response(form);
      const bytes = Buffer.from(await encoded.arrayBuffer());
      // The body is first read when there is a connection to write it to. Until then nothing was sent.
      let begun = false;
      const body = Readable.from(
        (function* () {
          begun = true;
          yield bytes;
        })(),
      );
      try {
        return await exchange(
          pool,
          {
            method: 'POST',
            path: prefix + path,
            body,
            headers: {
              ...headers(),
              'content-type': encoded.headers.get('content-type') ?? '',
              'content-length': String(bytes.length),
            },
          },
          { clock, timeoutMs, signal },
        );
      } catch (error) {
        return { kind: begun ? 'lost' : 'unreachable', error: String(error) };
      }
    },
    close: () => pool.destroy(),
  };
}
