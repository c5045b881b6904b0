import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import type { FixtureAnswer, FixtureAnswers } from './adapters.ts';

/*
 * A server of all adapters, in a thread of its own, so that its work is not counted. The first part of a path names the
 * adapter. A POST gets the answer to a create, any other call the answer to a poll.
 */
const answers = workerData as Readonly<Record<string, FixtureAnswers>>;

const server = createServer((request, response) => {
  const { create, poll } = answers[request.url?.split('/')[1] ?? '']!;
  request.resume().on('end', () => {
    reply(response, request.method === 'POST' ? create : poll);
  });
});
server.listen(0, '127.0.0.1', () => {
  parentPort?.postMessage((server.address() as AddressInfo).port);
});

function reply(response: ServerResponse, { status, json, text }: FixtureAnswer): void {
  const body = text ?? JSON.stringify(json);
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    .end(body);
}
