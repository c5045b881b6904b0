import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Answer } from './answer.ts';

const page = '<!doctype html><title>Bad gateway</title><h1>Bad gateway</h1>';

export function writeAnswer(response: ServerResponse, answer: Answer): void {
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
