import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import OpenAI, { toFile } from 'openai';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { httpCaller } from '../harness/client.ts';
import type { Answer, HttpCaller } from '../harness/client.ts';
import { newDatabases } from '../harness/databases.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { listAttention, listTasks, readAccount } from '../harness/records.ts';
import { CHANNEL, KEYS, UPSTREAM_KEY, UPSTREAM_MODEL } from '../harness/test-config.ts';

const FIXTURES = path.join(import.meta.dirname, '../../services/media/testing/fixtures');
const VIDEO = readFileSync(path.join(FIXTURES, '768p.mp4'));
const IMAGE = readFileSync(path.join(FIXTURES, 'image.png'));
const START_TIMEOUT_MS = 120_000;
const TEST_TIMEOUT_MS = 120_000;
const UNKNOWN = 'task_00000000000000000000000000';

const compat = (over: object = {}) => ({
  model: 'Alpha-H3',
  prompt: 'a red boat',
  seconds: '5',
  size: '1280x720',
  ...over,
});
const generation = (over: object = {}, text = 'a red boat') => ({
  model: 'Alpha-H3',
  content: [{ type: 'text', text }],
  duration: 5,
  resolution: '768P',
  ratio: '16:9',
  ...over,
});
const contextIr = (text = 'a red boat') => ({
  model: 'Alpha-H3',
  content: [{ type: 'text', text }],
  duration: 5,
  ratio: '16:9',
});
/** The same link with a wrong signature. */
const forgedOf = (link: string): string =>
  link.replace(/sig=(.)/, (_all, first: string) => `sig=${first === 'A' ? 'B' : 'A'}`);

export interface Backing {
  readonly bus?: () => string;
  readonly redis?: () => string;
  /** A server on which each service gets a database of its own. */
  readonly postgres?: () => string;
}

/** The life of every kind of task over real HTTP, in each shape of the program. */
export function videoTaskSuite(shape: Shape, { bus, redis, postgres }: Backing = {}): void {
  let sandbox: Sandbox;
  let program: Program;
  let demo: HttpCaller;
  let seen: string[];

  beforeAll(async () => {
    // Every rendering gives the same real video, because these tests do not check its pictures.
    sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => VIDEO });
    const databases = postgres === undefined ? undefined : await newDatabases(postgres());
    program = await newProgram(shape, {
      upstream: new URL(sandbox.url).host,
      bus: bus?.(),
      redis: redis?.(),
      ...(databases === undefined ? {} : { databases }),
    });
    await program.start();
    const caller = httpCaller(program.base, KEYS.demo);
    seen = [];
    demo = { ...caller, call: async (...args) => remember(await caller.call(...args)) };
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    await program?.end();
    await sandbox?.stop();
  }, START_TIMEOUT_MS);

  const remember = (answer: Answer): Answer => {
    seen.push(answer.text, JSON.stringify([...answer.headers]));
    return answer;
  };
  const balance = (account = 'demo') => readAccount(program, account);

  describe('each entry makes a task that ends with a video', () => {
    test.each([
      ['/v1/videos', compat()],
      ['/v1/video/generations', { model: 'Alpha-H3', prompt: 'a red boat', duration: 5, size: '1280x720' }],
      ['/v2/video_generation', generation()],
    ])(
      '%s',
      async (target, body) => {
        const taskId = await demo.create(target, body);
        const finished = await demo.finish(taskId);
        expect(finished.json).toMatchObject({
          id: taskId,
          task_id: taskId,
          object: 'video',
          status: 'completed',
          progress: 100,
          model: 'Alpha-H3',
          seconds: '5',
        });

        const content = await fetch(`${program.base}/v1/videos/${taskId}/content`, {
          headers: { authorization: `Bearer ${KEYS.demo}` },
        });
        expect(content.headers.get('content-type')).toMatch(/^video\/mp4/);
        expect(Buffer.from(await content.arrayBuffer()).equals(VIDEO)).toBe(true);
      },
      TEST_TIMEOUT_MS,
    );
  });

  test(
    'one task is rendered in the dialect of the path that reads it',
    async () => {
      const taskId = await demo.create('/v1/videos', compat());
      await demo.finish(taskId);
      const vendor = await demo.call('GET', `/v2/query/video_generation/${taskId}`);
      const flat = await demo.call('GET', `/v1/video/generations/${taskId}`);

      expect(vendor.json).toMatchObject({
        task_id: taskId,
        status: 'completed',
        task: { id: taskId, status: 'succeeded', task_type: 'generation', duration: 5, ratio: '16:9' },
      });
      expect((vendor.json as { task: { content: { url: string } } }).task.content.url).toContain(
        `${program.base}/ximg/`,
      );
      expect(flat.json).toMatchObject({ task_id: taskId, id: taskId, status: 'completed', format: 'mp4' });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a link works without the token and in parts, and not with a changed signature',
    async () => {
      const taskId = await demo.create('/v1/videos', compat());
      const { video_url: link } = (await demo.finish(taskId)).json as { video_url: string };
      const part = await fetch(link, { headers: { range: 'bytes=0-99' } });
      const forged = await fetch(forgedOf(link));

      expect(part.status).toBe(206);
      expect(Buffer.from(await part.arrayBuffer()).equals(VIDEO.subarray(0, 100))).toBe(true);
      expect(forged.status).toBe(403);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a refusal of the bytes has the id of its request, and the thumbnail is a picture',
    async () => {
      const taskId = await demo.create('/v1/videos', compat());
      const { video_url: link } = (await demo.finish(taskId)).json as { video_url: string };
      const asked = { 'x-request-id': 'mine-of-the-bytes' };
      const token = { authorization: `Bearer ${KEYS.demo}` };
      const content = `${program.base}/v1/videos/${taskId}/content`;
      const answers = await Promise.all([
        fetch(forgedOf(link), { headers: asked }),
        fetch(link, { headers: { ...asked, range: 'bytes=999999999-' } }),
        fetch(content, { headers: { ...asked, ...token, range: 'bytes=999999999-' } }),
        fetch(`${content}?variant=thumbnail`, { headers: { ...asked, ...token } }),
        fetch(`${content}?variant=spritesheet`, { headers: { ...asked, ...token } }),
      ]);

      expect(answers.map(({ status }) => status)).toEqual([403, 416, 416, 200, 400]);
      expect(answers.map(({ headers }) => headers.get('x-request-id'))).toEqual(answers.map(() => 'mine-of-the-bytes'));
      expect(answers[3].headers.get('content-type')).toBe('image/jpeg');
      expect(Buffer.from(await answers[3].arrayBuffer()).toString('hex', 0, 2)).toBe('ffd8');
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'context-IR ends with a prompt and no video',
    async () => {
      const taskId = await demo.create('/v2/h3_context_ir', contextIr());
      const finished = await demo.finish(taskId);
      expect(finished.json).toMatchObject({
        status: 'completed',
        metadata: { prompt: expect.stringContaining('a red boat') },
      });
      expect(finished.json).not.toHaveProperty('video_url');
      expect((await demo.call('GET', `/v1/videos/${taskId}/content`)).json).toMatchObject({
        prompt: expect.any(String),
      });
    },
    TEST_TIMEOUT_MS,
  );

  test.each([
    [
      '/v2/video_regeneration',
      (source: string) =>
        ['/v2/video_regeneration', { model: 'Alpha-H3', resolution: '2K', source_task_id: source }] as const,
    ],
    [
      '/v1/videos with source_task_id',
      (source: string) => ['/v1/videos', { model: 'Alpha-H3', source_task_id: source }] as const,
    ],
    ['remix', (source: string) => [`/v1/videos/${source}/remix`, { model: 'Alpha-H3', resolution: '2K' }] as const],
  ])(
    'a finished 768P video is rendered again through %s',
    async (_name, request) => {
      const source = await demo.create('/v2/video_generation', generation());
      await demo.finish(source);
      const [target, body] = request(source);
      const taskId = await demo.create(target, body);
      await demo.finish(taskId);
      expect((await demo.call('GET', `/v2/query/video_generation/${taskId}`)).json).toMatchObject({
        task: { task_type: 'regeneration', status: 'succeeded' },
      });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'the official SDK creates with a file, polls, lists and downloads',
    async () => {
      const client = new OpenAI({ apiKey: KEYS.demo, baseURL: `${program.base}/v1` });
      const made = await client.videos.create({
        model: 'Alpha-H3',
        prompt: 'with a picture',
        seconds: '4',
        size: '1280x720',
        input_reference: await toFile(IMAGE, 'first.png', { type: 'image/png' }),
      });
      expect(made).toMatchObject({ object: 'video', status: 'queued', seconds: '4' });
      await demo.finish(made.id);
      expect((await client.videos.retrieve(made.id)).status).toBe('completed');
      expect((await client.videos.list({ limit: 5 })).data.map(({ id }) => id)).toContain(made.id);
      expect(Buffer.from(await (await client.videos.downloadContent(made.id)).arrayBuffer()).equals(VIDEO)).toBe(true);
      await expect(client.videos.retrieve(UNKNOWN)).rejects.toMatchObject({ status: 404, code: 'task_not_found' });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'the official SDK polls the remix that it created',
    async () => {
      const client = new OpenAI({ apiKey: KEYS.demo, baseURL: `${program.base}/v1` });
      const source = await demo.create('/v2/video_generation', generation());
      await demo.finish(source);
      const remixed = await client.videos.remix(source, { model: 'Alpha-H3', resolution: '2K' } as never);
      await demo.finish(remixed.id);
      expect(await client.videos.retrieve(remixed.id)).toMatchObject({
        id: remixed.id,
        status: 'completed',
        remixed_from_video_id: source,
      });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a failed task has its reason in a normal read, and its hold is released in full',
    async () => {
      const poor = await balance('other');
      const other = httpCaller(program.base, KEYS.other);
      const taskId = await other.create('/v1/videos', compat({ prompt: '[fail] a red boat' }));
      const failed = await other.finish(taskId, 'failed');
      expect(failed.status).toBe(200);
      expect(failed.json).toMatchObject({
        status: 'failed',
        error: { code: expect.any(String), message: expect.any(String) },
      });
      await expectEventually(async () => balance('other'), { balance: poor.balance, held: '0' });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a task with an unknown status shows it as received, goes to the attention queue, and keeps its hold',
    async () => {
      const taskId = await demo.create('/v1/videos', compat({ prompt: '[unknown:paused_by_moon] a red boat' }));
      await demo.finish(taskId, 'paused_by_moon');
      await expectEventually(async () => (await listAttention(program)).find((item) => item.taskId === taskId), {
        reason: 'unknown_status',
      });
      await program.command('attention', 'resolve', taskId, '--as', 'failed');
      await demo.finish(taskId, 'failed');
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'an order that the upstream refuses leaves no task and no hold',
    async () => {
      const other = httpCaller(program.base, KEYS.other);
      const before = (await other.call('GET', '/v1/videos')).json as { data: unknown[] };
      const refused = await other.call('POST', '/v2/video_generation', generation({}, '[refuse:422] a red boat'));
      expect(refused.status).toBe(422);
      expect(refused.json).toMatchObject({
        type: 'error',
        error: { type: 'unprocessable_entity_error', http_code: '422' },
      });
      expect(((await other.call('GET', '/v1/videos')).json as { data: unknown[] }).data).toHaveLength(
        before.data.length,
      );
      await expectEventually(async () => balance('other'), { held: '0' });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a task is unknown to every other account, and a model to a token that may not see it',
    async () => {
      const taskId = await demo.create('/v1/videos', compat());
      const other = httpCaller(program.base, KEYS.other);
      const narrow = httpCaller(program.base, KEYS.narrow);
      const theirs = await other.call('GET', `/v1/videos/${taskId}`);
      const nobodys = await other.call('GET', `/v1/videos/${UNKNOWN}`);
      expect(theirs.status).toBe(404);
      expect(theirs.json).toEqual(nobodys.json);
      expect((await narrow.call('POST', '/v1/videos', compat())).json).toMatchObject({
        error: { code: 'model_not_found' },
      });
      expect((await narrow.call('GET', `/v1/videos/${taskId}`)).status).toBe(200);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a create is refused when the balance does not cover it',
    async () => {
      const refused = await httpCaller(program.base, KEYS.poor).call('POST', '/v1/videos', compat());
      expect(refused.status).toBe(429);
      expect(refused.json).toMatchObject({ error: { code: 'insufficient_quota' } });
      expect(refused.headers.get('x-should-retry')).toBe('false');
      expect(await balance('poor')).toMatchObject({ balance: '0.1', held: '0' });
    },
    TEST_TIMEOUT_MS,
  );

  test.each([
    ['no token', 'GET', '/v1/videos', undefined, undefined, 401, 'invalid_api_key'],
    ['an unknown route', 'GET', '/v1/nowhere', undefined, KEYS.demo, 404, 'not_found'],
    ['a wrong method', 'PUT', '/v1/videos', {}, KEYS.demo, 405, 'not_found'],
    ['malformed JSON', 'POST', '/v1/videos', '{"model":', KEYS.demo, 400, 'invalid_json'],
    ['a wrong type', 'POST', '/v1/videos', compat({ prompt: 5 }), KEYS.demo, 400, expect.stringMatching(/^invalid_/)],
    [
      'source and base video together',
      'POST',
      '/v1/videos',
      {
        model: 'Alpha-H3',
        source_task_id: UNKNOWN,
        content: [{ type: 'video_url', role: 'base_video', video_url: { url: 'https://x.example/v.mp4' } }],
      },
      KEYS.demo,
      400,
      'conflicting_source',
    ],
    ['a registered, unsupported route', 'GET', '/v1/files', undefined, KEYS.demo, 501, 'api_not_implemented'],
  ])('%s gets its envelope', async (_name, method, target, body, token, status, code) => {
    const answer = await httpCaller(program.base, token).call(method, target, body);
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ error: { message: expect.any(String), type: expect.any(String), code } });
  });

  test(
    'the same key and body make one task, and the answers are equal byte for byte',
    async () => {
      const headers = { 'idempotency-key': `key-${shape.replace(' ', '-')}` };
      const answers = await Promise.all([demo.call('POST', '/v1/videos', compat(), headers)]);
      const again = await demo.call('POST', '/v1/videos', compat(), headers);
      const changed = await demo.call('POST', '/v1/videos', compat({ seconds: '6' }), headers);
      expect(again.text).toBe(answers[0]?.text);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(changed.status).toBe(422);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'tasks survive a restart and then end',
    async () => {
      const taskId = await demo.create('/v1/videos', compat({ prompt: '[slow:3s] a red boat' }));
      await program.stop();
      await program.start();
      await demo.finish(taskId);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a killed program finds its tasks again',
    async () => {
      const taskId = await demo.create('/v1/videos', compat({ prompt: '[slow:3s] a red boat' }));
      await program.stop('SIGKILL');
      await program.start();
      await demo.finish(taskId);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'the money of every task moved once: the ledger balances, and only live tasks have holds',
    async () => {
      await expectEventually(async () => (await program.command('ledger', 'verify')).json, {
        ok: true,
        sums: { USD: '0' },
        unsettled_terminal_tasks: [],
        orphan_holds: [],
      });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'no answer held anything of the upstream',
    async () => {
      const records = await listTasks(program, '--limit', '1000');
      const ids = records.flatMap(({ attempts }) => attempts.map(({ upstreamId }) => upstreamId)).filter(Boolean);
      expect(ids.length).toBeGreaterThan(5);
      for (const secret of [...ids, CHANNEL, UPSTREAM_KEY, UPSTREAM_MODEL, new URL(sandbox.url).host])
        expect(seen.filter((text) => text.includes(secret))).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  test('health is answered without a token, and metrics only on the admin port', async () => {
    const { gateway, tasks } = program.config;
    for (const url of [
      `${program.base}/healthz`,
      `${program.base}/readyz`,
      `http://${gateway.admin}/metrics`,
      `http://${tasks.http}/healthz`,
      `http://${tasks.http}/metrics`,
    ]) {
      expect([url, (await fetch(url)).status]).toEqual([url, 200]);
    }
    expect((await fetch(`${program.base}/metrics`)).status).toBe(404);
  });
}

/** Repeats a check until it holds, because the change comes by an event. */
async function expectEventually(ask: () => Promise<unknown>, wanted: object): Promise<void> {
  const TRIES_MAX = 30;
  for (let tries = 1; tries < TRIES_MAX; tries += 1) {
    try {
      expect(await ask()).toMatchObject(wanted);
      return;
    } catch {
      // Each attempt starts a process, which takes long enough.
    }
  }
  expect(await ask()).toMatchObject(wanted);
}
