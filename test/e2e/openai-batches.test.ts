import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import OpenAI, { toFile } from 'openai';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';
import { startWebhookReceiver } from '../harness/webhook-receiver.ts';
import type { WebhookReceiver } from '../harness/webhook-receiver.ts';

const FIXTURES = path.join(import.meta.dirname, '../../services/media/testing/fixtures');
const VIDEO = readFileSync(path.join(FIXTURES, '768p.mp4'));
const START_TIMEOUT_MS = 60_000;
const TEST_TIMEOUT_MS = 90_000;
const KILLS_TIMEOUT_MS = 180_000;
const END_TIMEOUT_MS = 60_000;
const MODEL = 'Alpha-H3';
const IN_FLIGHT = 3;

let sandbox: Sandbox;
let receiver: WebhookReceiver;
let program: Program;
let client: OpenAI;
const clientOf = (apiKey: string): OpenAI => new OpenAI({ apiKey, baseURL: `${program.base}/v1`, maxRetries: 0 });
beforeAll(async () => {
  sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => VIDEO });
  receiver = await startWebhookReceiver();
  program = await newProgram('one program', { upstream: new URL(sandbox.url).host }, (config) => ({
    ...config,
    gateway: { ...config.gateway, batches: true },
    tasks: { ...config.tasks, batch: { in_flight: IN_FLIGHT, per_account: 8 } },
    webhooks: { allow: [receiver.host] },
  }));
  await program.start();
  client = clientOf(KEYS.demo);
}, START_TIMEOUT_MS);
afterAll(async () => {
  await program?.end();
  await receiver?.stop();
  await sandbox?.stop();
}, START_TIMEOUT_MS);

interface OutputLine {
  readonly id: string;
  readonly custom_id: string;
  readonly response: { readonly status_code: number; readonly body: OpenAI.Video } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

const aLine = (customId: string, body: object = {}): object => ({
  custom_id: customId,
  method: 'POST',
  url: '/v1/videos',
  body: { model: MODEL, prompt: `a boat called ${customId}`, seconds: '4', ...body },
});
const begin = async (
  lines: readonly (object | string)[],
  options: Partial<OpenAI.BatchCreateParams> = {},
  by = client,
): Promise<OpenAI.Batch> => {
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  const file = await by.files.create({ file: await toFile(Buffer.from(text), 'orders.jsonl'), purpose: 'batch' });
  return by.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/videos',
    completion_window: '24h',
    ...options,
  });
};
const end = async ({ id }: OpenAI.Batch, by = client): Promise<OpenAI.Batch> => {
  let batch = await by.batches.retrieve(id);
  await until(async () => {
    batch = await by.batches.retrieve(id);
    return /^(completed|failed|expired|cancelled)$/.test(batch.status);
  }, END_TIMEOUT_MS);
  return batch;
};
const readLines = async (fileId: string | null | undefined, by = client): Promise<readonly OutputLine[]> => {
  if (fileId === null || fileId === undefined) return [];
  const text = await (await by.files.content(fileId)).text();
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as OutputLine);
};

test(
  "OpenAI's client uploads orders, waits, and reads a video or an error for each",
  async () => {
    await client.post('/webhook_endpoints', {
      body: { name: 'batches', url: receiver.url('/batches'), event_types: ['batch.completed', 'batch.failed'] },
    });
    const started = await begin(
      ['one', 'two', 'three', 'four', 'five']
        .map((name) => aLine(name))
        .concat([
          aLine('too long', { seconds: '99' }),
          aLine('no number', { seconds: 'five' }),
          aLine('bytes', { input_reference: 'data:image/png;base64,AAAA' }),
        ]),
      { metadata: { order: '7' } },
    );
    expect(started).toMatchObject({
      object: 'batch',
      status: 'validating',
      endpoint: '/v1/videos',
      completion_window: '24h',
      metadata: { order: '7' },
      errors: null,
    });
    const quote = await client.post('/batches/estimate', {
      body: { input_file_id: started.input_file_id, endpoint: started.endpoint, completion_window: '24h' },
    });
    expect(quote).toMatchObject({
      amount: '1.6',
      max_amount: '1.6',
      currency: 'USD',
      request_counts: { total: 8, priced: 5, refused: 3 },
    });
    const ended = await end(started);
    expect(ended).toMatchObject({
      charge: { state: 'final', amount: '1.6', currency: 'USD' },
      status: 'completed',
      model: MODEL,
      request_counts: { total: 8, completed: 5, failed: 3 },
    });
    expect(ended.completed_at).toBeGreaterThanOrEqual(ended.created_at);
    const output = await readLines(ended.output_file_id);
    expect(output.map(({ custom_id: id }) => id)).toEqual(['one', 'two', 'three', 'four', 'five']);
    for (const { response, error } of output) {
      expect(error).toBeNull();
      expect(response).toMatchObject({
        status_code: 200,
        body: {
          object: 'video',
          status: 'completed',
          seconds: '4',
          charge: { state: 'charged', amount: '0.32', currency: 'USD' },
        },
      });
      expect(await client.videos.retrieve(response!.body.id)).toMatchObject({ status: 'completed' });
    }
    const errors = await readLines(ended.error_file_id);
    expect(errors.map(({ custom_id: id, response, error }) => [id, response, error?.code])).toEqual([
      ['too long', null, 'invalid_duration'],
      ['no number', null, 'invalid_duration'],
      ['bytes', null, 'invalid_media'],
    ]);
    await until(() => receiver.at('/batches').length > 0);
    expect(receiver.at('/batches').map(({ body }) => JSON.parse(body) as object)).toMatchObject([
      { type: 'batch.completed', data: { id: ended.id } },
    ]);
    const [newest] = (await client.batches.list({ limit: 1 })).data;
    expect(newest).toEqual(ended);
    expect((await program.command('batch', 'show', ended.id, '--account', 'demo')).json).toMatchObject({
      batch: {
        id: ended.id,
        status: 'BATCH_STATUS_COMPLETED',
        ...{ total: 8, completed: 5, failed: 3 },
        outputFileId: ended.output_file_id,
      },
    });
  },
  TEST_TIMEOUT_MS,
);

describe('a file is refused as a whole', () => {
  test.each<[string, readonly (object | string)[], readonly object[]]>([
    ['bad JSON', [aLine('a'), '{"custom_id":'], [{ code: 'invalid_json_line', line: 2, param: null }]],
    ['a double custom_id', [aLine('a'), aLine('a')], [{ code: 'duplicate_custom_id', line: 2, param: 'custom_id' }]],
    ['a foreign url', [{ ...aLine('a'), url: '/v1/chat/completions' }], [{ code: 'invalid_url', line: 1 }]],
    ['a foreign method', [{ ...aLine('a'), method: 'GET' }], [{ code: 'invalid_method', line: 1 }]],
    ['two models', [aLine('a'), aLine('b', { model: 'Beta-V1' })], [{ code: 'mismatched_model', line: 2 }]],
    ['no lines', ['', ' '], [{ code: 'empty_file', line: null }]],
    [
      'more faults than are told',
      Array.from({ length: 30 }, () => '[]'),
      Array.from({ length: 20 }, (_none, index) => ({ code: 'invalid_json_line', line: index + 1 })),
    ],
  ])(
    '%s',
    async (_what, lines, faults) => {
      const ended = await end(await begin(lines));
      expect(ended).toMatchObject({ status: 'failed', errors: { object: 'list', data: faults } });
      expect(ended.errors?.data).toHaveLength(faults.length);
      expect([ended.output_file_id, ended.error_file_id]).toEqual([null, null]);
    },
    TEST_TIMEOUT_MS,
  );
});

test(
  'a cancelled batch begins no line, and its files tell what became of each',
  async () => {
    const started = await begin(Array.from({ length: 12 }, (_none, index) => aLine(`line ${index}`)));
    const { json } = await program.command('batch', 'cancel', started.id, '--account', 'demo');
    expect(json).toMatchObject({ batch: { id: started.id, status: 'BATCH_STATUS_CANCELLING' } });
    // its last orders can have ended since
    expect(await client.batches.cancel(started.id)).toMatchObject({
      status: expect.stringMatching(/^cancell(ing|ed)$/),
    });
    const ended = await end(started);
    expect(ended.status).toBe('cancelled');
    const { total = 0, completed = 0, failed = 0 } = ended.request_counts ?? {};
    expect(completed + failed).toBe(total);
    const errors = await readLines(ended.error_file_id);
    const output = await readLines(ended.output_file_id);
    expect(errors.length + output.length).toBe(total);
    for (const { error } of errors) expect(error?.code).toBe('batch_cancelled');
    await expect(client.batches.cancel((await end(await begin(['[]']))).id)).rejects.toMatchObject({
      status: 409,
      code: 'batch_not_cancellable',
    });
  },
  TEST_TIMEOUT_MS,
);

test(
  'a balance ends the lines that it does not cover, and a bound those above it',
  async () => {
    const poor = clientOf(KEYS.poor);
    const unpaid = await end(await begin([aLine('a'), aLine('b')], {}, poor), poor);
    expect(unpaid).toMatchObject({ status: 'completed', request_counts: { total: 2, completed: 0, failed: 2 } });
    expect((await readLines(unpaid.error_file_id, poor)).map(({ error }) => error?.code)).toEqual([
      'insufficient_quota',
      'insufficient_quota',
    ]);
    // each line costs 0.32
    const bounded = await end(await begin([aLine('a'), aLine('b'), aLine('c')], { metadata: { max_amount: '0.70' } }));
    expect(bounded).toMatchObject({
      request_counts: { total: 3, completed: 2, failed: 1 },
      charge: { state: 'final', amount: '0.64', currency: 'USD' },
    });
    expect((await readLines(bounded.error_file_id)).map(({ error }) => error?.code)).toEqual(['price_above_max']);
  },
  TEST_TIMEOUT_MS,
);

test(
  'batches of another account do not exist, and a wrong request is refused with its field',
  async () => {
    const batch = await begin([aLine('a')]);
    const stranger = clientOf(KEYS.other);
    for (const call of [stranger.batches.retrieve(batch.id), stranger.batches.cancel(batch.id)])
      await expect(call).rejects.toMatchObject({ status: 404, code: 'batch_not_found' });
    expect((await stranger.batches.list()).data).toEqual([]);
    for (const [change, status, param] of [
      [{ input_file_id: 'file_none' }, 404, 'input_file_id'],
      [{ endpoint: '/v1/moderations' }, 400, 'endpoint'],
      [{ completion_window: '1h' }, 400, 'completion_window'],
      [{ metadata: { max_amount: 'much' } }, 400, 'metadata.max_amount'],
    ] as const)
      await expect(begin([aLine('a')], change as never)).rejects.toMatchObject({ status, param });
    await end(batch);
  },
  TEST_TIMEOUT_MS,
);

test(
  'a line is refused with the words of a single create',
  async () => {
    const bodies = [
      { negative_promt: 'rain' },
      { prompt_strenght: 2 },
      { image_uri: 'https://a.example/1.png' },
      { seconds: '99' },
      { seconds: undefined, duration: '99' },
      { ratio: '7:5' },
    ];
    const single = await Promise.all(
      bodies.map(async (body) => {
        const order = { model: MODEL, prompt: 'a boat', seconds: '4', ...body };
        const refused: unknown = await client.post('/videos', { body: order }).catch((error: unknown) => error);
        if (!(refused instanceof OpenAI.APIError)) throw new Error(`${JSON.stringify(body)} was not refused`);
        return (refused.error as { readonly message: string }).message;
      }),
    );
    const ended = await end(await begin(bodies.map((body, index) => aLine(`line ${index}`, body))));
    const errors = await readLines(ended.error_file_id);

    expect(errors.map(({ error }) => error?.message)).toEqual(single);
    expect(single[0]).toMatch(/is an unknown field.*; write into prompt what the video must not show$/);
  },
  TEST_TIMEOUT_MS,
);

/** The number of works that the generator has. */
async function countWorks(): Promise<number> {
  const listed = await fetch(`${sandbox.url}/v2/query/video_generation?page_size=100`, {
    headers: { authorization: `Bearer ${UPSTREAM_KEY}` },
  });
  return ((await listed.json()) as { items: readonly object[] }).items.length;
}

test(
  'a program that is killed while it reads, runs and ends a batch loses no line and makes none twice',
  async () => {
    const names = Array.from({ length: 9 }, (_none, index) => `killed ${index}`);
    const worksBefore = await countWorks();
    const started = await begin(names.map((name) => aLine(name)));
    const read = (): Promise<OpenAI.Batch> => client.batches.retrieve(started.id);
    // With all of its places taken, no order is on its way to the generator: one without an answer waits for a person.
    const isFull = async (): Promise<boolean> =>
      (await client.videos.list({ limit: 100 })).data.filter(({ status }) => status === 'in_progress').length ===
      IN_FLIGHT;
    for (const reach of [
      async () => true,
      isFull,
      async () => ((await read()).request_counts?.completed ?? 0) >= IN_FLIGHT && isFull(),
      async () => (await read()).status !== 'in_progress',
    ]) {
      await until(reach, END_TIMEOUT_MS);
      await program.stop('SIGKILL');
      await program.start();
    }
    const ended = await end(started);
    expect(ended).toMatchObject({ status: 'completed', request_counts: { total: names.length } });
    const lines = [...(await readLines(ended.output_file_id)), ...(await readLines(ended.error_file_id))];
    expect(lines.map(({ custom_id: id }) => id).toSorted()).toEqual(names);
    const { completed = 0, failed = 0 } = ended.request_counts ?? {};
    expect(lines.filter(({ response }) => response?.body.status === 'completed')).toHaveLength(completed);
    expect(completed + failed).toBe(names.length);
    const made = (await countWorks()) - worksBefore;
    expect(made).toBeGreaterThanOrEqual(completed);
    expect(made).toBeLessThanOrEqual(names.length);
  },
  KILLS_TIMEOUT_MS,
);
