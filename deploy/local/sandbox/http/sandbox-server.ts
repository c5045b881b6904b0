import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { newToken } from '../random-ids.ts';
import { bodyBytesMax, bodyMsMax, idleMsMax } from '../limits.ts';
import { Refusal, internalError, invalidParams, toWireRefusal } from '../vendor-refusal.ts';
import type { Answer } from '../routes/route-handler.ts';

const page = '<!doctype html><title>Bad gateway</title><h1>Bad gateway</h1>';

export type Handler = (request: IncomingMessage) => Promise<Answer>;

/** The HTTP server: it turns a thrown error into the vendor's envelope, and an answer into bytes. */
export function httpServer(handle: Handler, report: (fault: unknown) => void): Server {
  const refusalAnswer = (fault: unknown): Answer => {
    if (!(fault instanceof Refusal)) report(fault);
    const refusal = fault instanceof Refusal ? fault : internalError();
    return { as: 'json', status: refusal.http, body: toWireRefusal(refusal, newToken()) };
  };

  return createServer({ requestTimeout: bodyMsMax, keepAliveTimeout: idleMsMax }, (request, response) => {
    response.on('error', () => undefined);
    void handle(request)
      .catch(refusalAnswer)
      .then((answer) => {
        // The server would take the unread rest of a body for the next request.
        if (!request.complete && answer.as !== 'silence') response.setHeader('connection', 'close');
        writeAnswer(response, answer);
        request.resume();
      });
  });
}

/** Listens on `host:port` only (port 0: any free port). Returns the address. */
export async function listen(server: Server, address: string): Promise<string> {
  const colon = address.lastIndexOf(':');
  const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
  server.listen({ host, port: Number(address.slice(colon + 1)) });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Stops listening and cuts every connection, including those that wait for an answer. */
export async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

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

function writeAnswer(response: ServerResponse, answer: Answer): void {
  if (answer.as === 'silence') return;
  if (answer.as === 'cut') response.destroy();
  else if (answer.as === 'bytes') writeBytes(response, answer);
  else if (answer.as === 'events') writeEvents(response, answer.events);
  else if (answer.as === 'json') write(response, answer.status, 'application/json', JSON.stringify(answer.body));
  else if (answer.as === 'text') write(response, answer.status, 'text/plain; charset=utf-8', answer.text);
  else write(response, 200, 'text/html; charset=utf-8', page);
}

function write(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

function writeEvents(response: ServerResponse, events: AsyncIterable<string>): void {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  // The events end when the caller closes the connection.
  pipeline(Readable.from(events), response).catch(() => undefined);
}

function writeBytes(
  response: ServerResponse,
  { status, headers, bytes, torn }: Extract<Answer, { as: 'bytes' }>,
): void {
  response.writeHead(status, { ...headers, 'content-length': bytes.length });
  if (!torn) return void response.end(bytes);
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => response.destroy());
}
