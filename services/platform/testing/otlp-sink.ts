import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { spansIn } from './otlp-spans.ts';
import type { ReceivedSpan } from './otlp-spans.ts';

/** Takes spans as a collector does, and keeps them. */
export interface OtlpSink {
  readonly endpoint: string;
  readonly spans: readonly ReceivedSpan[];
  /** The headers of each request. */
  readonly headers: readonly IncomingMessage['headers'][];
  /** Answers every further request with this status. */
  answer(status: number): void;
  close(): Promise<void>;
}

export async function openOtlpSink(): Promise<OtlpSink> {
  const spans: ReceivedSpan[] = [];
  const headers: IncomingMessage['headers'][] = [];
  let status = 200;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      headers.push(request.headers);
      const body = Buffer.concat(parts);
      if (status === 200 && request.url === '/v1/traces')
        spans.push(...spansIn(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body));
      response.writeHead(request.url === '/v1/traces' ? status : 404).end();
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers,
    answer: (next) => {
      status = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
    },
  };
}
