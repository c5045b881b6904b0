import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { spinningMp4 } from '../../services/media/testing/mp4.ts';
import { jpegOfScans } from '../../services/media/testing/picture-bombs.ts';
import { httpCaller } from '../harness/client.ts';
import type { Answer, HttpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { seeded } from '../harness/seeded.ts';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';

const SEED = Number(process.env['REELGATE_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const FIXTURES = path.join(import.meta.dirname, '../../services/media/testing/fixtures');
const VIDEO = readFileSync(path.join(FIXTURES, '768p.mp4'));
const PICTURE = readFileSync(path.join(FIXTURES, 'image.png'));

/** The concurrent creates of the flooding account, and the media of each. */
const FLOOD = 20;
const MEDIA_EACH = 3;
/** The creates of the working account. */
const CREATES = 30;
const BASELINE_CREATES = 10;
const REST_MS_MAX = 300;
/** The required latency of the gateway. */
const P95_MS = 2000;
/** On a slow machine a create during a flood can take this many times its time without a flood. */
const TIMES_BASELINE = 4;
/** The time that the upstream takes for a task, and the longest time between two polls. */
const LIFE_MS = 1000;
const POLL_MS = 500;
const COMPLETE_WITHIN_MS = POLL_MS + 2000;
const TIMEOUT_MS = 240_000;

const RETRY_MS = 50;
const TRIES_MAX = 1200;

const dataUrl = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString('base64')}`;
const anOrder = (content: readonly object[], words = '') => ({
  model: 'Alpha-H3',
  content: [{ type: 'text', text: `a red boat [queue:${LIFE_MS / 2}ms] [slow:${LIFE_MS / 2}ms] ${words}` }, ...content],
  duration: 5,
  resolution: '768P',
  ratio: '16:9',
});
const image = (bytes: Buffer, type = 'image/png') => ({
  type: 'image_url',
  role: 'reference_image',
  image_url: { url: dataUrl(type, bytes) },
});
const video = (bytes: Buffer) => ({
  type: 'video_url',
  role: 'reference_video',
  video_url: { url: dataUrl('video/mp4', bytes) },
});
const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);
const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.ceil(share * values.length) - 1] ?? Number.POSITIVE_INFINITY;
const p95 = (values: readonly number[]): number => quantile(values, 0.95);
const median = (values: readonly number[]): number => quantile(values, 0.5);

/** Valid pictures of 70 kB each that take a decoder seconds. */
const BURNING = Array.from({ length: MEDIA_EACH }, (_, index) => jpegOfScans(5760, 95 - index));

interface Flood {
  readonly answers: readonly Answer[];
  /** Creates without an answer yet. */
  readonly unanswered: number;
  /** Starts no more creates. Running ones are answered, or end with the program. */
  end(): void;
}

/** Starts `FLOOD` clients of one account. Each sends its next create soon after the answer to the last. */
function startFlood(caller: HttpCaller, body: object): Flood {
  const answers: Answer[] = [];
  let unanswered = 0;
  let isOver = false;
  const client = async (): Promise<void> => {
    while (!isOver) {
      unanswered += 1;
      const answer = await caller.call('POST', '/v2/video_generation', body).catch(() => undefined);
      unanswered -= 1;
      if (answer !== undefined) answers.push(answer);
      await wait(REST_MS_MAX);
    }
  };
  for (const _ of Array(FLOOD)) void client();
  return {
    answers,
    get unanswered() {
      return unanswered;
    },
    end: () => {
      isOver = true;
    },
  };
}

describe(`an account that floods the parsers (REELGATE_SEED=${SEED})`, () => {
  const { whole } = seeded(SEED);
  let sandbox: Sandbox;
  let program: Program;
  let flooding: HttpCaller;
  let working: HttpCaller;
  let baselineMs = 0;

  beforeAll(async () => {
    sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => VIDEO });
    program = await newProgram('one program', { upstream: new URL(sandbox.url).host });
    await program.start();
    flooding = httpCaller(program.base, KEYS.demo, TIMEOUT_MS);
    working = httpCaller(program.base, KEYS.other, TIMEOUT_MS);
    baselineMs = p95(await createsOf(BASELINE_CREATES));
  }, TIMEOUT_MS);
  afterAll(async () => {
    await program?.end();
    await sandbox?.stop();
  }, TIMEOUT_MS);

  /** Sends `count` creates with one picture each, in sequence; returns the milliseconds of each. */
  async function createsOf(count: number): Promise<number[]> {
    const tookMs: number[] = [];
    for (let made = 0; made < count; made += 1) {
      const before = performance.now();
      await working.create('/v2/video_generation', anOrder([image(PICTURE)], `[mark:${made}]`));
      tookMs.push(performance.now() - before);
      await wait(whole(0, REST_MS_MAX));
    }
    return tookMs;
  }
  const bound = (): number => Math.max(P95_MS, TIMES_BASELINE * baselineMs);

  test(
    'with videos that declare more than they hold is refused at once, and delays no other account',
    async () => {
      const before = performance.now();
      const answers = Promise.all(
        times(FLOOD, () =>
          flooding.call('POST', '/v2/video_generation', anOrder(times(MEDIA_EACH, () => video(spinningMp4())))),
        ),
      ).then((all) => ({ all, tookMs: performance.now() - before }));
      const tookMs = await createsOf(BASELINE_CREATES);
      const { all, tookMs: answeredMs } = await answers;

      // The first create waits while the gateway reads the flood's bodies. A parser that spins delays all of them.
      expect(median(tookMs)).toBeLessThan(bound());
      expect(new Set(all.map(({ status }) => status))).toEqual(new Set([400]));
      // Less than the time of one of the sixty files.
      expect(answeredMs).toBeLessThan(Math.max(5000, FLOOD * baselineMs));
    },
    TIMEOUT_MS,
  );

  test(
    'with valid pictures that take seconds delays no other account and no result of it',
    async () => {
      const flood = startFlood(flooding, anOrder(BURNING.map((bytes) => image(bytes, 'image/jpeg'))));
      for (let tries = 0; tries < TRIES_MAX && flood.unanswered < FLOOD; tries += 1) await wait(RETRY_MS);
      const tookMs = await createsOf(CREATES);
      const created = await working.create('/v2/video_generation', anOrder([image(PICTURE)]));
      const before = performance.now();
      await working.finish(created);
      const finishedMs = performance.now() - before - LIFE_MS;
      const { unanswered } = flood;
      flood.end();
      const [took, alone, finished] = [p95(tookMs), baselineMs, finishedMs].map((ms) => String(Math.round(ms)));
      console.log(`p95 ${took!} ms, alone ${alone!} ms, completed after ${finished!} ms`);

      expect(p95(tookMs)).toBeLessThan(bound());
      expect(finishedMs).toBeLessThan(Math.max(COMPLETE_WITHIN_MS, POLL_MS + bound()));
      // The flood was real: its creates waited all the time.
      expect(unanswered).toBeGreaterThan(FLOOD / 2);
    },
    TIMEOUT_MS,
  );
});
