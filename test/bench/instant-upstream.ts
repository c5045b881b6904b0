import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { Agent, request as undici } from 'undici';

/** The vendor's V2 API. It answers at once, and every task runs until the benchmark ends it. */
export interface InstantUpstream {
  readonly host: string;
  /** The upstream's ids in the order of the creates. */
  readonly ids: readonly string[];
  /** Ends this task. The next poll shows it, and the callback address of the order is called at once. */
  fail(id: string): void;
  /** Ends this task with a small video. The next poll shows it. */
  complete(id: string): void;
  /** The number of polls so far. */
  polls(): number;
  stop(): Promise<void>;
}

const ADDRESS = /"callback_url":"([^"]+)"/;
const QUERY = '/v2/query/video_generation/';
const RESULT = '/result/';
/** 41 KB. */
const VIDEO = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/2k.mp4'));

export async function startInstantUpstream(): Promise<InstantUpstream> {
  const ids: string[] = [];
  const failed = new Set<string>();
  const completed = new Set<string>();
  const addresses = new Map<string, string>();
  const calls = new Agent({ connections: 64 });
  let polls = 0;
  const stateOf = (id: string): object => {
    if (failed.has(id)) return { status: 'failed', error: { code: '1027', message: 'no' }, usage: {} };
    if (!completed.has(id)) return { status: 'running', usage: {} };
    return {
      status: 'succeeded',
      content: { url: `http://${hostOf(server)}${RESULT}${id}` },
      usage: { total_seconds: 5 },
    };
  };
  const server = createServer((request, response) => {
    const reply = (body: object): void => {
      const text = JSON.stringify(body);
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
        .end(text);
    };
    if (request.method === 'POST') {
      const parts: Buffer[] = [];
      request
        .on('data', (part: Buffer) => void parts.push(part))
        .on('end', () => {
          const id = `91${String(ids.length).padStart(13, '0')}`;
          const address = ADDRESS.exec(Buffer.concat(parts).toString('latin1'))?.[1];
          if (address !== undefined) addresses.set(id, address);
          ids.push(id);
          reply({ task_id: id });
        });
      return;
    }
    if (request.url?.startsWith(RESULT) === true) {
      const video = videoOf(request.url.slice(RESULT.length));
      response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': video.length }).end(video);
      return;
    }
    const id = request.url?.slice(QUERY.length) ?? '';
    polls += 1;
    reply({ task: { id, ...stateOf(id) } });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: hostOf(server),
    ids,
    fail: (id) => {
      failed.add(id);
      const address = addresses.get(id);
      if (address !== undefined) void call(calls, address, id);
    },
    complete: (id) => void completed.add(id),
    polls: () => polls,
    stop: () =>
      new Promise((resolve) => {
        void calls.close();
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

/** The video of a task. A box that players skip names the task, so no two results have the same content. */
function videoOf(id: string): Buffer {
  const name = Buffer.from(id);
  const box = Buffer.from('\0\0\0\0free');
  box.writeUInt32BE(box.length + name.length);
  return Buffer.concat([VIDEO, box, name]);
}

const hostOf = (server: Server): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;

async function call(calls: Agent, address: string, id: string): Promise<void> {
  const { body } = await undici(address, {
    dispatcher: calls,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ task_id: id, status: 'failed' }),
  });
  await body.dump();
}
