import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { listAttention, readAccount } from '../harness/records.ts';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { KEYS } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';

const TIMEOUT_MS = 120_000;
const FIXTURES = path.join(import.meta.dirname, '../../services/media/testing/fixtures');
const VIDEO = readFileSync(path.join(FIXTURES, '768p.mp4'));
const PICTURE = readFileSync(path.join(FIXTURES, 'small.png'));
const TASKS = '/api/v3/contents/generations/tasks';
/** The first poll comes after a minute, so that only a callback can end a task before. */
const POLL = { first: '60s', factor: 1, max: '60s' };

interface ArkOrder {
  readonly model: string;
  readonly callback_url: string;
  readonly execution_expires_after: number;
  readonly return_last_frame?: boolean;
}

let upstream: Server;
let host: string;
let program: Program;
let demo: HttpCaller;
let losesAnswers = false;
const orders: ArkOrder[] = [];

/** A work as the vendor tells it, in its answers and its callbacks. */
function showWork(id: string): object {
  const {
    model,
    execution_expires_after,
    return_last_frame: isAsked = false,
  } = orders[Number(id.slice('cgt-'.length))]!;
  const picture = isAsked ? { last_frame_url: `http://${host}/frame.png` } : {};
  const content = { video_url: `http://${host}/video.mp4`, ...picture };
  const order = { model, execution_expires_after, resolution: '720p', ratio: '16:9', duration: 5 };
  return { id, status: 'succeeded', content, created_at: Math.floor(Date.now() / 1000), ...order };
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url = '/' } = request;
  const answer = (body: object): void =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (method === 'POST' && url === TASKS) {
    orders.push((await json(request)) as ArkOrder);
    if (losesAnswers) response.destroy();
    else answer({ id: `cgt-${orders.length - 1}` });
  } else if (url.startsWith(`${TASKS}?`)) {
    answer({ items: orders.map((_order, number) => showWork(`cgt-${number}`)), total: orders.length });
  } else if (url.startsWith(`${TASKS}/`)) answer(showWork(url.slice(TASKS.length + 1)));
  else if (url === '/video.mp4') response.writeHead(200, { 'content-type': 'video/mp4' }).end(VIDEO);
  else if (url === '/frame.png') response.writeHead(200, { 'content-type': 'image/png' }).end(PICTURE);
  else response.writeHead(404).end();
}

async function callBack(work: number): Promise<number> {
  const answer = await fetch(orders[work]!.callback_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(showWork(`cgt-${work}`)),
  });
  await answer.body?.cancel();
  return answer.status;
}

beforeAll(async () => {
  upstream = createServer((request, response) => void serve(request, response)).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  host = `127.0.0.1:${(upstream.address() as AddressInfo).port}`;
  const model = { kind: 'video', duration: [4, 12], resolutions: ['720p'], ratios: ['16:9'] };
  program = await newProgram(
    'one program',
    { upstream: host, tasks: { poll: POLL } },
    (config) =>
      ({
        ...config,
        models: { ...config.models, Seedance: model },
        prices: { ...config.prices, Seedance: { per_second: '0.10' } },
        channels: [
          ...config.channels,
          {
            ...{ id: 'ark', adapter: 'ark', base_url: `http://${host}`, api_key: 'k', upstream_account: 'ark' },
            ...{ endpoints: ['video.generation'], callbacks: true, models: { Seedance: 'doubao-seedance-2-5-260915' } },
          },
        ],
      }) as TestConfig,
  );
  await program.start();
  demo = httpCaller(program.base, KEYS.demo);
}, TIMEOUT_MS);
afterAll(async () => {
  await program?.end();
  upstream?.close();
}, TIMEOUT_MS);

const create = (changes: object = {}): Promise<string> =>
  demo.create('/v1/videos', { model: 'Seedance', prompt: 'a boat', seconds: '5', size: '1280x720', ...changes });

test(
  'the picture of the last frame is a variant of the content, if the order asked for it',
  async () => {
    const id = await create({ return_last_frame: true });
    const plain = await create();
    expect(await Promise.all([callBack(0), callBack(1)])).toEqual([200, 200]);
    await Promise.all([demo.finish(id), demo.finish(plain)]);

    const read = (task: string): Promise<Response> =>
      fetch(`${program.base}/v1/videos/${task}/content?variant=last_frame`, {
        headers: { authorization: `Bearer ${KEYS.demo}` },
      });
    const [picture, none] = [await read(id), await read(plain)];

    expect(orders.map(({ return_last_frame: asked }) => asked)).toEqual([true, undefined]);
    expect([picture.status, picture.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect(picture.headers.get('content-disposition')).toBe(`inline; filename="${id}_last_frame.png"`);
    expect(Buffer.from(await picture.arrayBuffer()).equals(PICTURE)).toBe(true);
    expect([none.status, await none.json()]).toMatchObject([404, { error: { code: 'last_frame_unavailable' } }]);
  },
  TIMEOUT_MS,
);

test(
  'work whose create lost its answer is found by its callback, and is made and paid once',
  async () => {
    losesAnswers = true;
    const before = orders.length;
    const id = await create();

    expect(await callBack(before)).toBe(200);
    await demo.finish(id);

    expect(orders).toHaveLength(before + 1);
    expect(await listAttention(program)).toEqual([]);
    expect(await readAccount(program, 'demo')).toMatchObject({ held: '0' });
  },
  TIMEOUT_MS,
);
