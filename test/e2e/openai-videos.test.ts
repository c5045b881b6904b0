import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import OpenAI, { toFile } from 'openai';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { httpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';
import { startWebhookReceiver } from '../harness/webhook-receiver.ts';
import type { WebhookReceiver } from '../harness/webhook-receiver.ts';
import { EXAMPLES } from './example-runs.ts';
import { withSora } from './with-sora.ts';

const FIXTURES = path.join(import.meta.dirname, '../../services/media/testing/fixtures');
const VIDEO = readFileSync(path.join(FIXTURES, '768p.mp4'));
const IMAGE = readFileSync(path.join(FIXTURES, 'image.png'));
const PAGE = readFileSync(path.join(EXAMPLES, 'from-openai-videos.md'), 'utf8');
const START_TIMEOUT_MS = 60_000;
const TEST_TIMEOUT_MS = 60_000;
const SOON_MS = 20_000;
const HOUR_MS = 3_600_000;
const MODEL = 'sora-2';

let sandbox: Sandbox;
let receiver: WebhookReceiver;
let program: Program;
let client: OpenAI;
beforeAll(async () => {
  sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => VIDEO });
  receiver = await startWebhookReceiver();
  program = await newProgram('one program', { upstream: new URL(sandbox.url).host }, (config) => ({
    ...withSora(config),
    webhooks: { allow: [receiver.host] },
  }));
  await program.start();
  client = new OpenAI({ apiKey: KEYS.demo, baseURL: `${program.base}/v1`, maxRetries: 0 });
}, START_TIMEOUT_MS);
afterAll(async () => {
  await program?.end();
  await receiver?.stop();
  await sandbox?.stop();
}, START_TIMEOUT_MS);

const create = (over: Partial<OpenAI.VideoCreateParams> = {}): Promise<OpenAI.Video> =>
  client.videos.create({ model: MODEL, prompt: 'a red boat', ...over });
async function finish(model = MODEL): Promise<string> {
  const { id } = await create({ model });
  await httpCaller(program.base, KEYS.demo).finish(id);
  return id;
}
const toVideoFile = (): Promise<File> => toFile(VIDEO, 'boat.mp4', { type: 'video/mp4' });

type Method = Exclude<keyof OpenAI.Videos, '_client'>;

/** The proof of each row of the page's table. */
const METHODS: Readonly<Record<Method, () => Promise<void>>> = {
  create: async () => {
    expect(await create({ seconds: '8', size: '1280x720' })).toMatchObject({
      object: 'video',
      status: 'queued',
      model: MODEL,
      seconds: '8',
      size: '1280x720',
    });
  },
  retrieve: async () => {
    expect(await client.videos.retrieve(await finish())).toMatchObject({ status: 'completed', progress: 100 });
  },
  list: async () => {
    const ids = [await finish(), await finish()];
    const listed = await Array.fromAsync(client.videos.list({ limit: 1, order: 'asc' }));
    expect(listed.map(({ id }) => id)).toEqual(expect.arrayContaining(ids));
  },
  downloadContent: async () => {
    const id = await finish();
    const read = async (variant: 'video' | 'thumbnail'): Promise<readonly [string | null, Buffer]> => {
      const answer = await client.videos.downloadContent(id, { variant });
      return [answer.headers.get('content-type'), Buffer.from(await answer.arrayBuffer())];
    };
    expect(await read('video')).toEqual(['video/mp4', VIDEO]);
    expect((await read('thumbnail'))[0]).toBe('image/jpeg');
    await expect(client.videos.downloadContent(id, { variant: 'spritesheet' })).rejects.toMatchObject({
      status: 400,
      code: 'invalid_request',
    });
  },
  delete: async () => {
    const id = await finish();
    expect(await client.videos.delete(id)).toEqual({ id, object: 'video.deleted', deleted: true });
    await expect(client.videos.retrieve(id)).rejects.toMatchObject({ status: 404, code: 'task_not_found' });
    const { id: unfinished } = await create({ prompt: '[take:60000] a red boat' });
    await expect(client.videos.delete(unfinished)).rejects.toMatchObject({ status: 409, code: 'task_not_completed' });
  },
  remix: async () => {
    const id = await finish('Alpha-H3');
    await expect(client.videos.remix(id, { prompt: 'a blue boat' })).rejects.toMatchObject({
      status: 400,
      code: 'missing_model',
    });
    const again = await client.videos.remix(id, { model: 'Alpha-H3', resolution: '2K' } as never);
    expect(await client.videos.retrieve(again.id)).toMatchObject({ remixed_from_video_id: id });
  },
  edit: async () => expectAbsent(client.videos.edit({ prompt: 'a blue boat', video: { id: await finish() } })),
  extend: async () =>
    expectAbsent(client.videos.extend({ prompt: 'it sails', seconds: '4', video: { id: await finish() } })),
  createCharacter: async () =>
    expectAbsent(client.videos.createCharacter({ name: 'the boat', video: await toVideoFile() })),
  getCharacter: async () => expectAbsent(client.videos.getCharacter('char_1')),
};

async function expectAbsent(call: Promise<unknown>): Promise<void> {
  await expect(call).rejects.toMatchObject({ status: 404, code: 'not_found' });
}

const readTable = (heading: string): readonly string[] =>
  [...(PAGE.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(
    ([, name]) => name!,
  );

test('the page has a row for each method of the official SDK', () => {
  const methods = Object.getOwnPropertyNames(OpenAI.Videos.prototype).filter((name) => name !== 'constructor');
  expect(readTable('The methods').toSorted()).toEqual(methods.toSorted());
  expect(Object.keys(METHODS).toSorted()).toEqual(methods.toSorted());
});

test('the page has the program and the configuration of the examples', () => {
  const blocks = [...PAGE.matchAll(/^```\w*\n([^]*?)^```$/gm)].map(([, code]) => code);
  const read = (file: string): string => readFileSync(path.join(EXAMPLES, file), 'utf8');
  expect(blocks).toContain(read('from-openai-videos.mjs'));
  expect(blocks).toContain(read('sora-2.yaml'));
  const [, changed] = /^\+(.*)$/m.exec(PAGE) ?? [];
  expect(read('from-openai-videos.mjs').split('\n')).toContain(changed);
});

describe('each method of the SDK behaves as its row says', () => {
  test.each(Object.entries(METHODS))('%s', async (_method, prove) => prove(), TEST_TIMEOUT_MS);
});

describe('each parameter of a create behaves as its row says', () => {
  const reference = `data:image/png;base64,${IMAGE.toString('base64')}`;
  test.each<readonly [string, () => Promise<OpenAI.VideoCreateParams>]>([
    ['seconds within the model', async () => ({ prompt: 'a boat', model: MODEL, seconds: '12' })],
    ['a size of OpenAI', async () => ({ prompt: 'a boat', model: MODEL, size: '1024x1792' })],
    [
      'a file',
      async () => ({
        prompt: 'a boat',
        model: MODEL,
        input_reference: await toFile(IMAGE, 'a.png', { type: 'image/png' }),
      }),
    ],
    ['an image_url', async () => ({ prompt: 'a boat', model: MODEL, input_reference: { image_url: reference } })],
  ])('%s is taken', async (_name, build) => {
    expect(await client.videos.create(await build())).toMatchObject({ status: 'queued' });
  });

  test.each<readonly [string, string, string | undefined, () => Promise<OpenAI.VideoCreateParams>]>([
    ['no model', 'missing_model', 'model', async () => ({ prompt: 'a boat' })],
    ['another model', 'model_not_found', 'model', async () => ({ prompt: 'a boat', model: 'sora-2-pro' })],
    ['too many seconds', 'invalid_duration', 'seconds', async () => ({ prompt: 'a', model: MODEL, seconds: '16' })],
    [
      'a file_id',
      'unknown_field',
      'input_reference[file_id]',
      async () => ({ prompt: 'a boat', model: MODEL, input_reference: { file_id: 'file-1' } }),
    ],
    [
      'a file that is no image',
      'invalid_media',
      'input_reference',
      async () => ({ prompt: 'a boat', model: MODEL, input_reference: await toVideoFile() }),
    ],
  ])('%s is refused', async (_name, code, param, build) => {
    await expect(client.videos.create(await build())).rejects.toMatchObject({ code, param });
  });
});

test('a video can be ordered for later; until then it says what it waits for, and it can be cancelled', async () => {
  const notBefore = new Date(Date.now() + HOUR_MS).toISOString();
  const headers = { Prefer: `class=batch, not-before="${notBefore}"` };
  const { data, response } = await client.videos
    .create({ model: MODEL, prompt: 'a red boat' }, { headers })
    .withResponse();
  const read = await client.videos.retrieve(data.id);
  const cancelled = await client.post<OpenAI.Video>(`/videos/${data.id}/cancel`);

  expect(response.headers.get('preference-applied')).toBe(headers.Prefer);
  expect(data).not.toHaveProperty('queue');
  expect(read).toMatchObject({ status: 'queued', queue: { waits_for: 'scheduled', class: 'batch', position: 0 } });
  expect(cancelled).toMatchObject({ status: 'failed', error: { code: 'cancelled' } });
});

test(
  'a receiver that verifies with the SDK gets the event of a finished video',
  async () => {
    const { signing_secret: secret } = await client.webhooks.create({
      name: 'receiver',
      url: receiver.url('/openai'),
      event_types: ['video.completed', 'video.failed'],
    });
    const id = await finish();
    await until(() => receiver.at('/openai').some(({ body }) => body.includes(id)), SOON_MS);
    const { body, headers } = receiver.at('/openai').find((request) => request.body.includes(id))!;
    expect(await client.webhooks.unwrap(body, headers, secret)).toMatchObject({
      object: 'event',
      type: 'video.completed',
      data: { id },
    });
  },
  TEST_TIMEOUT_MS,
);
