import http from 'node:http';
import type { IncomingMessage } from 'node:http';
import { TOKEN } from './fake-services.ts';
import { until } from '@reelgate/platform/testing/until';

/** An answer that a test reads as it arrives. */
export interface OpenStream {
  readonly response: IncomingMessage;
  /** What has arrived so far. */
  text(): string;
  /** Resolves once this text has arrived. */
  has(text: string): Promise<void>;
  /** Resolves with the whole answer when it ends or breaks off. */
  readonly ended: Promise<{ readonly text: string; readonly wasWhole: boolean }>;
  leave(): void;
}

/** Posts a body and returns the answer as soon as its head arrives. */
export function openStream(base: string, path: string, body: unknown): Promise<OpenStream> {
  return open(base, { method: 'POST', path, headers: { 'content-type': 'application/json' } }, JSON.stringify(body));
}

/** The same for a GET. */
export function listen(
  base: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<OpenStream> {
  return open(base, { method: 'GET', path, headers });
}

async function open(
  base: string,
  { headers, ...asked }: { readonly method: string; readonly path: string; readonly headers: object },
  body?: string,
): Promise<OpenStream> {
  const { hostname, port } = new URL(base);
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = http.request(
    { hostname, port, ...asked, agent: false, headers: { authorization: `Bearer ${TOKEN}`, ...headers } },
    resolve,
  );
  request.on('error', reject).end(body);
  const response = await promise;
  let text = '';
  response.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
  });
  return {
    response,
    text: () => text,
    has: (part) => until(() => text.includes(part)),
    ended: new Promise((over) => {
      response
        .on('error', () => undefined)
        .once('close', () => {
          over({ text, wasWhole: response.complete });
        });
    }),
    leave: () => {
      request.destroy();
    },
  };
}
