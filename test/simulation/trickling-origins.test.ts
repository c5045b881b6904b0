import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { drawCases } from '@reelgate/platform/testing/draw-cases';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { jpegOfScans } from '../../services/media/testing/picture-bombs.ts';
import { answer, startRawOrigin } from '../../services/media/testing/raw-origin.ts';
import type { Raw, RawOrigin } from '../../services/media/testing/raw-origin.ts';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';

const FIXTURES = path.join(import.meta.dirname, '../../services/media/testing/fixtures');
const VIDEO = readFileSync(path.join(FIXTURES, '768p.mp4'));
const PICTURE = readFileSync(path.join(FIXTURES, 'image.png'));

const ACCOUNTS = 16;
/** The concurrent creates of each attacking account, and the media of each. */
const CREATES_EACH = 8;
const MEDIA_EACH = 3;
/** A little more than the least speed of 16 KiB/s. */
const DROP = 'x'.repeat(4600);
const DROP_MS = 250;
const TRICKLE_BYTES = 20_000_000;
const BASELINE_CREATES = 10;
const CREATES = 20;
const REST_MS = 100;
const SETTLE_MS = 3000;
/** The time for which a transfer is sure to keep its permit. */
const YIELD_AFTER_MS = 2000;
const MARGIN_MS = 2000;
/** On a slow machine a create during an attack can take this many times its time without one, besides its wait. */
const TIMES_BASELINE = 4;
/** The time that the upstream takes for a task, and the longest time between two polls. */
const LIFE_MS = 1000;
const POLL_MS = 500;
const TIMEOUT_MS = 240_000;

const keyOf = (account: number): string => `sk-trickle-${String(account).padStart(2, '0')}-0123456789`;
const image = (url: string) => ({ type: 'image_url', role: 'reference_image', image_url: { url } });
const anOrder = (content: readonly object[], words = '') => ({
  model: 'Alpha-H3',
  content: [{ type: 'text', text: `a boat [queue:${LIFE_MS / 2}ms] [slow:${LIFE_MS / 2}ms] ${words}` }, ...content],
  duration: 5,
  resolution: '768P',
  ratio: '16:9',
});
const at = (values: readonly number[], part: number): number =>
  values.toSorted((one, other) => one - other)[Math.ceil(part * values.length) - 1] ?? Number.POSITIVE_INFINITY;
const figures = (values: readonly number[]): string =>
  [0.5, 0.95, 1].map((part) => String(Math.round(at(values, part)))).join(' / ');

let sandbox: Sandbox;
let program: Program;
let trickling: readonly RawOrigin[];
let serving: RawOrigin;
let working: HttpCaller;
let baseline: readonly number[];
/** The requests that the running attack repeats until it is over. */
let isOver = false;
let underWay: Promise<unknown> = Promise.resolve();

beforeAll(async () => {
  sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => VIDEO });
  // Each attacker has an address of its own, so that the bound on one address does not slow them down.
  trickling = await Promise.all(
    Array.from({ length: ACCOUNTS }, (_, account) =>
      startRawOrigin({ address: `127.0.1.${account + 1}`, always: trickle }),
    ),
  );
  serving = await startRawOrigin({
    address: '127.0.2.1',
    always: (socket) => {
      socket.write(answer(['200 OK', 'content-type: image/png', `content-length: ${PICTURE.byteLength}`]));
      socket.end(PICTURE);
    },
  });
  const host = new URL(sandbox.url).host;
  const change = (config: TestConfig): object => ({
    ...config,
    media: { ...config.media, fetch: { allow: [host, serving.host, ...trickling.map((origin) => origin.host)] } },
    accounts: [
      ...config.accounts,
      ...Array.from({ length: ACCOUNTS }, (_, account) => ({
        id: `trickle-${account}`,
        credit: '1000.00',
        tokens: [{ key: keyOf(account), models: ['*'] }],
      })),
    ],
  });
  program = await newProgram('one program', { upstream: host }, (config) => change(config) as TestConfig);
  await program.start();
  working = httpCaller(program.base, KEYS.other, TIMEOUT_MS);
  // The first create also starts the process that parses.
  await createsOf(1);
  baseline = await createsOf(BASELINE_CREATES);
}, TIMEOUT_MS);
afterEach(async () => {
  isOver = true;
  await underWay;
}, TIMEOUT_MS);
afterAll(async () => {
  await program?.end();
  await Promise.all([sandbox?.stop(), serving?.close(), ...(trickling ?? []).map((origin) => origin.close())]);
}, TIMEOUT_MS);

const trickle: Raw = (socket) => {
  socket.write(answer(['200 OK', 'content-type: image/png', `content-length: ${TRICKLE_BYTES}`]));
  const timer = setInterval(() => (isOver ? socket.destroy() : socket.write(DROP)), DROP_MS);
  socket.on('close', () => {
    clearInterval(timer);
  });
};

/** Sends creates with one picture by its address, in sequence; returns the milliseconds of each. */
async function createsOf(count: number): Promise<number[]> {
  const tookMs: number[] = [];
  for (let made = 0; made < count; made += 1) {
    const before = performance.now();
    await working.create('/v2/video_generation', anOrder([image(`http://${serving.host}/${made}`)]));
    tookMs.push(performance.now() - before);
    await wait(REST_MS);
  }
  return tookMs;
}

/** Several clients of an account, each of which sends its next create soon after the answer to the last. */
async function attack(account: number, body: () => object): Promise<void> {
  const caller = httpCaller(program.base, keyOf(account), TIMEOUT_MS);
  const client = async (): Promise<void> => {
    while (!isOver) {
      await caller.call('POST', '/v2/video_generation', body()).catch(() => undefined);
      await wait(REST_MS);
    }
  };
  await Promise.all(Array.from({ length: CREATES_EACH }, client));
}

let trickles = 0;
const trickled = (account: number) => (): object =>
  anOrder(
    Array.from({ length: MEDIA_EACH }, () => {
      trickles += 1;
      return image(`http://${trickling[account]!.host}/${trickles}`);
    }),
  );
const burning = (): object =>
  anOrder(BURNING.map((bytes) => image(`data:image/jpeg;base64,${bytes.toString('base64')}`)));
/** Valid pictures of 70 kB each that take a decoder seconds. */
const BURNING = Array.from({ length: MEDIA_EACH }, (_, index) => jpegOfScans(5760, 95 - index));

const ATTACKS: readonly (readonly [string, () => readonly Promise<void>[]])[] = [
  ['four accounts trickle', () => [0, 1, 2, 3].map((account) => attack(account, trickled(account)))],
  [
    'sixteen accounts trickle',
    () => Array.from({ length: ACCOUNTS }, (_, account) => attack(account, trickled(account))),
  ],
  ['one account trickles and floods the parsers', () => [attack(0, trickled(0)), attack(0, burning)]],
];

describe('origins at the lowest permitted speed', () => {
  test.each(drawCases('attacks', ATTACKS, 1))(
    'while %s, another account keeps its share for creates and for results',
    async (what, start) => {
      isOver = false;
      const connections = (): number => trickling.reduce((sum, origin) => sum + origin.connections(), 0);
      const before = connections();
      underWay = Promise.all(start());
      await wait(SETTLE_MS);
      const tookMs = await createsOf(CREATES);
      const created = await working.create('/v2/video_generation', anOrder([image(`http://${serving.host}/last`)]));
      const begunAt = performance.now();
      await working.finish(created);
      const finishedMs = performance.now() - begunAt - LIFE_MS;
      console.log(
        `${what}: create p50 / p95 / max ${figures(tookMs)} ms (alone ${figures(baseline)} ms), ` +
          `completed after ${Math.round(finishedMs)} ms, ${connections() - before} trickles`,
      );

      const slack = Math.max(MARGIN_MS, TIMES_BASELINE * at(baseline, 0.95));
      expect(at(tookMs, 0.95)).toBeLessThan(YIELD_AFTER_MS + slack);
      expect(finishedMs).toBeLessThan(POLL_MS + slack);
      expect(connections()).toBeGreaterThan(before);
    },
    TIMEOUT_MS,
  );
});
