import { once } from 'node:events';
import { appendFileSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { httpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';

const EXAMPLE = path.join(import.meta.dirname, '../../services/tasks/adapter-kit/example');
const VIDEO = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/768p.mp4'));
const TIMEOUT_MS = 120_000;
const GENERATION = {
  model: 'Alpha-H3',
  content: [{ type: 'text', text: 'a red boat' }],
  duration: 5,
  resolution: '768P',
  ratio: '16:9',
};

const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-own-adapters-'));
const adapter = path.join(folder, 'borealis.ts');
let upstream: Borealis;
let program: Program;

beforeAll(async () => {
  cpSync(EXAMPLE, folder, { recursive: true });
  upstream = await openBorealis();
  program = await newProgram('one program', { upstream: upstream.host }, (config) => ({
    ...config,
    adapters: [adapter],
    channels: config.channels.map((channel) => ({
      ...channel,
      adapter: 'borealis',
      endpoints: ['video.generation'],
      reconcile: 'none',
    })),
  }));
}, TIMEOUT_MS);
afterAll(async () => {
  await program?.end();
  await upstream?.close();
  rmSync(folder, { recursive: true });
}, TIMEOUT_MS);

interface Borealis {
  readonly host: string;
  /** The headers of the newest order. */
  newest(): http.IncomingHttpHeaders | undefined;
  close(): Promise<void>;
}

/** A server of the imaginary API that the example speaks. Its work ends at the first look at it. */
async function openBorealis(): Promise<Borealis> {
  let newest: http.IncomingHttpHeaders | undefined;
  const works: string[] = [];
  const server = http.createServer((request, response) => {
    const { method, url = '', headers } = request;
    const answer = (status: number, json: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
    };
    request.resume().on('end', () => {
      if (url === '/video.mp4') response.writeHead(200, { 'content-type': 'video/mp4' }).end(VIDEO);
      else if (headers.authorization !== `Bearer ${UPSTREAM_KEY}`) answer(401, { error: 'no such key' });
      else if (method === 'POST' && url === '/v2/renders') {
        newest = headers;
        works.push(`render-${works.length + 1}`);
        answer(200, { render: works.at(-1) });
      } else if (works.includes(url.replace('/v2/renders/', '')))
        answer(200, { state: 'finished', link: `http://${headers.host}/video.mp4` });
      else answer(404, { error: 'no such render' });
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    newest: () => newest,
    close: async () => {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

async function makeVideo(): Promise<void> {
  const demo = httpCaller(program.base, KEYS.demo);
  const taskId = await demo.create('/v2/video_generation', GENERATION);
  await demo.finish(taskId);
  const content = await fetch(`${program.base}/v1/videos/${taskId}/content`, {
    headers: { authorization: `Bearer ${KEYS.demo}` },
  });
  expect(Buffer.from(await content.arrayBuffer()).equals(VIDEO)).toBe(true);
}

async function testAdapter(): Promise<void> {
  expect(await program.command('adapter', 'test', adapter)).toMatchObject({ code: 0, json: { ok: true } });
}

test(
  'an adapter without a build makes videos once it has passed its tests, and each change of it is tested again',
  async () => {
    await expect(program.start()).rejects.toThrow(/adapters\.0: .*borealis\.ts:1: has not passed its tests; run/);

    await testAdapter();
    await program.start();
    await makeVideo();
    expect(upstream.newest()).not.toHaveProperty('x-borealis');

    const text = readFileSync(adapter, 'utf8');
    writeFileSync(adapter, text.replace('kit: 1,', "kit: 1,\n    headers: { 'x-borealis': 'second' },"));
    await until(() => /refused; the old one stays/.test(program.output()));
    expect(program.output()).toMatch(/adapters\.0: .*borealis\.ts:1: has changed since it passed its tests; run/);
    await makeVideo();
    expect(upstream.newest()).not.toHaveProperty('x-borealis');

    await testAdapter();
    await until(() => /the configuration was read again/.test(program.output()));
    await makeVideo();
    expect(upstream.newest()).toMatchObject({ 'x-borealis': 'second' });

    await program.stop();
    appendFileSync(adapter, '\n');
    await expect(program.start()).rejects.toThrow(/has changed since it passed its tests/);
  },
  TIMEOUT_MS,
);
