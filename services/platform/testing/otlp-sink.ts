import http from 'node:http';
import type { IncomingMessage, RequestListener } from 'node:http';
import https from 'node:https';
import type { ServerOptions } from 'node:https';
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
  /** Answers every further request with this status, and those that are held. */
  answer(status: number): void;
  /** Answers every further request with a body: whole, or cut off. */
  body(bytes: Uint8Array, isCut?: boolean): void;
  /** Reads every further request and answers it later, as a slow receiver does. */
  hold(): void;
  close(): Promise<void>;
}

/** With settings of TLS it is an https:// receiver. */
export async function openOtlpSink(tls?: ServerOptions): Promise<OtlpSink> {
  const spans: ReceivedSpan[] = [];
  const headers: IncomingMessage['headers'][] = [];
  let status = 200;
  let sent: { readonly bytes: Uint8Array; readonly announced: number } = { bytes: new Uint8Array(), announced: 0 };
  let held: (() => void)[] | undefined;
  const listener: RequestListener = (request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      headers.push(request.headers);
      const body = Buffer.concat(parts);
      if (status === 200 && request.url === '/v1/traces')
        spans.push(...spansIn(request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body));
      const answer = (): void => {
        response.writeHead(request.url === '/v1/traces' ? status : 404, { 'content-length': sent.announced });
        if (sent.bytes.length === sent.announced) response.end(sent.bytes);
        else response.write(sent.bytes, () => response.destroy());
      };
      if (held === undefined) answer();
      else held.push(answer);
    });
  };
  const server = tls === undefined ? http.createServer(listener) : https.createServer(tls, listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    endpoint: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers,
    answer: (next) => {
      status = next;
      const late = held ?? [];
      held = undefined;
      for (const answerNow of late) answerNow();
    },
    body: (bytes, isCut = false) => {
      sent = { bytes, announced: bytes.length + (isCut ? 1 : 0) };
    },
    hold: () => {
      held ??= [];
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
