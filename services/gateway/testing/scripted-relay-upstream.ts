import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as the upstream received it. */
export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export type Reply = (request: SeenRequest, response: ServerResponse) => void;

/** A real HTTP server with scripted answers. It records its requests. */
export interface RelayUpstream {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** The answers whose client left before their end. */
  readonly left: () => number;
  reply: Reply;
  stop(): Promise<void>;
}

export async function startRelayUpstream(reply: Reply = json({})): Promise<RelayUpstream> {
  let left = 0;
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    response.once('close', () => {
      if (!response.writableFinished) left += 1;
    });
    void take(request).then(
      (body) => {
        const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body };
        seen.push(one);
        upstream.reply(one, response);
      },
      () => undefined,
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const upstream: RelayUpstream = {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    seen,
    reply,
    left: () => left,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
  return upstream;
}

async function take(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export function json(value: unknown, status = 200, headers: Record<string, string | string[]> = {}): Reply {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
  };
}

/** Writes each event on its own, and then ends. */
export function events(frames: readonly string[], headers: Record<string, string> = {}): Reply {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers });
    for (const frame of frames) response.write(frame);
    response.end();
  };
}
