import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OpenRouter } from '@openrouter/sdk';
import { until } from '@reelgate/platform/testing/until';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { CHANNEL, KEYS, UPSTREAM_KEY, UPSTREAM_MODEL } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';

const VIDEO = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/768p.mp4'));
const START_TIMEOUT_MS = 60_000;
const TEST_TIMEOUT_MS = 60_000;
const SETTLED_MS = 20_000;
const BATCH_KEY = 'sk-batch-0123456789';
const EURO_KEY = 'sk-euro-0123456789';
const NANOS = 1_000_000_000n;

interface Price {
  readonly operation: string;
  readonly unit: string;
  readonly resolution?: string;
  readonly free?: number;
  readonly amount: string;
}

interface Entry {
  readonly id: string;
  readonly supported_durations: readonly number[];
  readonly supported_resolutions: readonly string[];
  readonly supported_aspect_ratios: readonly string[];
  readonly supported_frame_images: readonly string[];
  readonly pricing_skus?: Readonly<Record<string, string>>;
  readonly defaults: { readonly duration: number; readonly resolution: string; readonly ratio: string };
  readonly prompt_max: number;
  readonly media: Readonly<Record<string, number>> & {
    readonly more_ratios: readonly string[];
    readonly frames_exclude_references: boolean;
    readonly audio_needs_picture: boolean;
  };
  readonly operations: readonly string[];
  readonly prices: readonly Price[];
  readonly currency: string;
}

let sandbox: Sandbox;
let program: Program;
let demo: HttpCaller;
const caller = (key: string): HttpCaller => httpCaller(program.base, key);
const openRouter = (key: string) =>
  new OpenRouter({ apiKey: key, serverURL: `${program.base}/v1`, retryConfig: { strategy: 'none' } }).videoGeneration;
async function list(key: string): Promise<readonly Entry[]> {
  return ((await caller(key).call('GET', '/v1/videos/models')).json as { readonly data: readonly Entry[] }).data;
}

/** Beta-V1 has no price. */
const withModels = (config: TestConfig): TestConfig => {
  const video = { kind: 'video', duration: [3, 6] as [number, number], ratios: ['16:9'] };
  const added = {
    'by-request': { ...video, resolutions: ['480p', '720p'] },
    'partly-priced': { ...video, resolutions: ['480p', '720p', '4K'] },
    'by-tokens': { ...video, resolutions: ['720p'] },
    'without-channel': { ...video, resolutions: ['720p'] },
  };
  const { 'without-channel': _none, ...served } = added;
  const models = Object.fromEntries(Object.keys(served).map((id) => [id, UPSTREAM_MODEL]));
  return {
    ...config,
    models: { ...config.models, ...added },
    channels: config.channels.map((channel) =>
      channel.id === CHANNEL ? { ...channel, models: { ...channel.models, ...models } } : channel,
    ),
    prices: {
      ...config.prices,
      'Alpha-H3': { ...config.prices['Alpha-H3'], class_discounts: { batch: '0.5' } },
      'by-request': { per_request: '0.25', per_second: '0.001', per_input_second: '0.5', images: { each: '0.01' } },
      'partly-priced': { per_second: { '480p': '0.000000001', '720p': '0' } },
      'by-tokens': { per_million_tokens: { input: '1', output: '2' }, hold: '0.7' },
    },
    accounts: [
      ...config.accounts,
      { id: 'euro', currency: 'EUR', credit: '5', tokens: [{ key: EURO_KEY, models: ['Alpha-H3', 'by-request'] }] },
      { id: 'batches', credit: '5', tokens: [{ key: BATCH_KEY, models: ['Alpha-H3'], queue: { class: 'batch' } }] },
    ],
  } as TestConfig;
};

beforeAll(async () => {
  sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => VIDEO });
  program = await newProgram('one program', { upstream: new URL(sandbox.url).host }, withModels);
  await program.start();
  demo = caller(KEYS.demo);
}, START_TIMEOUT_MS);
afterAll(async () => {
  await program?.end();
  await sandbox?.stop();
}, START_TIMEOUT_MS);

const TYPES: Readonly<Record<string, string>> = { reference_video: 'video_url', reference_audio: 'audio_url' };
type Item = Readonly<Record<string, unknown>>;
const newItems = (role: string, count: number): readonly Item[] =>
  Array.from({ length: count }, () => {
    const type = TYPES[role] ?? 'image_url';
    return { type, role, [type]: { url: 'https://media.example/a' } };
  });

/** No media, and for each role one and all that the entry allows, alone and with all that may stand beside it. */
function listMediaSets({ media }: Entry): readonly (readonly Item[])[] {
  const frames = [...newItems('first_frame', media['first_frame']!), ...newItems('last_frame', media['last_frame']!)];
  const references = ['reference_image', 'reference_video', 'reference_audio'];
  const all = references.flatMap((role) => newItems(role, media[role]!)).slice(0, media['max']);
  const image = newItems('reference_image', 1);
  const sets = references.flatMap((role) =>
    [1, media[role]!].map((count) => [
      ...(role === 'reference_audio' && media.audio_needs_picture ? image : []),
      ...newItems(role, count),
    ]),
  );
  return [[], frames.slice(0, 1), frames.slice(1), frames, all, ...sets];
}

/** The sum of the prices over an order of text, images and seconds. An estimate measures no reference video. */
function addPrices({ prices }: Entry, resolution: string, quantities: Readonly<Record<string, number>>): string {
  const sum = prices
    .filter((price) => price.operation === 'generation' && (price.resolution ?? resolution) === resolution)
    .reduce((total, { unit, free = 0, amount }) => {
      const charged = Math.max(0, (quantities[unit] ?? 0) - free);
      return total + toNanos(amount) * BigInt(charged);
    }, 0n);
  const places = String(sum % NANOS)
    .padStart(9, '0')
    .replace(/0+$/, '');
  return `${sum / NANOS}${places === '' ? '' : `.${places}`}`;
}

function toNanos(amount: string): bigint {
  const [units = '', places = ''] = amount.split('.');
  return BigInt(units) * NANOS + BigInt(places.padEnd(9, '0'));
}

describe('the catalogue', () => {
  test('is read by the SDK of OpenRouter', async () => {
    const { data } = await openRouter(KEYS.demo).listVideosModels();

    expect(data.map(({ id }) => id)).toEqual(['Alpha-H3', 'by-request', 'by-tokens', 'partly-priced']);
    expect(data[0]).toMatchObject({
      canonicalSlug: 'Alpha-H3',
      supportedDurations: [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
      supportedResolutions: ['768P', '2K'],
      supportedFrameImages: ['first_frame', 'last_frame'],
      pricingSkus: { 'per-video-second-768p': '0.08', 'per-video-second-2k': '0.13' },
    });
  });
  test('has the limits, the operations and the exact prices', async () => {
    const [alpha, byRequest, byTokens, partly] = await list(KEYS.demo);

    expect(alpha).toMatchObject({
      duration: { min: 4, max: 15, step: 1 },
      defaults: { duration: 5, resolution: '768P', ratio: '16:9' },
      operations: ['generation', 'regeneration', 'context_ir'],
      prompt_max: 7000,
      media: { max: 12, reference_image: 9, frames_exclude_references: true, more_ratios: ['adaptive'] },
      currency: 'USD',
    });
    expect(alpha!.prices.filter(({ operation }) => operation !== 'generation')).toEqual([
      { operation: 'regeneration', unit: 'output_second', resolution: '2K', amount: '0.05' },
      { operation: 'context_ir', unit: 'million_input_tokens', amount: '0.9' },
      { operation: 'context_ir', unit: 'million_output_tokens', amount: '3.6' },
      { operation: 'context_ir', unit: 'hold', amount: '0.05' },
    ]);
    expect([byRequest, byTokens, partly].map((entry) => [entry?.operations, entry?.supported_resolutions])).toEqual([
      [['generation'], ['480p', '720p']],
      [['generation'], ['720p']],
      [['generation'], ['480p', '720p']],
    ]);
  });
  test('has only what the token may use, in the currency of its account', async () => {
    const entries = await list(EURO_KEY);

    expect(entries.map(({ id, currency }) => [id, currency])).toEqual([
      ['Alpha-H3', 'EUR'],
      ['by-request', 'EUR'],
    ]);
    expect(entries[0]).not.toHaveProperty('pricing_skus');
    expect(await list(KEYS.narrow)).toEqual([]);
    expect((await caller(EURO_KEY).call('GET', '/v1/videos/models/by-request')).json).toEqual(entries[1]);
  });
  test('has the prices of the class of the token, as its estimates do', async () => {
    const [entry] = await list(BATCH_KEY);
    const order = { model: 'Alpha-H3', prompt: 'a boat', seconds: '5', resolution: '2K' };

    expect(entry?.pricing_skus).toEqual({ 'per-video-second-768p': '0.04', 'per-video-second-2k': '0.065' });
    expect((await caller(BATCH_KEY).call('POST', '/v1/videos/estimate', order)).json).toMatchObject({
      amount: addPrices(entry!, '2K', { output_second: 5 }),
    });
  });
  test.each([
    ['unknown', KEYS.demo],
    ['Beta-V1', KEYS.narrow],
    ['without-channel', KEYS.demo],
    ['by-tokens', EURO_KEY],
  ])('answers 404 for %s, whether it exists or not', async (id, key) => {
    const answer = await caller(key).call('GET', `/v1/videos/models/${id}`);

    expect(answer).toMatchObject({ status: 404, json: { error: { code: 'model_not_found', param: 'model' } } });
    expect(answer.text.replaceAll(id, '')).toBe(
      (await demo.call('GET', '/v1/videos/models/none')).text.replaceAll('none', ''),
    );
  });
  test('is no task', async () => {
    expect((await demo.call('DELETE', '/v1/videos/models')).status).toBe(405);
    expect((await demo.call('POST', '/v1/videos/models/remix', {})).status).not.toBe(400);
  });
  test(
    'allows no order that is refused, and its prices are the estimates',
    async () => {
      const faults: unknown[] = [];
      let count = 0;
      for (const entry of await list(KEYS.demo)) {
        const { supported_durations: all, defaults, media } = entry;
        const durations = [...new Set([all[0]!, defaults.duration, all.at(-1)!])];
        for (const items of listMediaSets(entry)) {
          const ratios = [...entry.supported_aspect_ratios, ...(items.length > 0 ? media.more_ratios : [])];
          const orders = durations.flatMap((seconds) =>
            entry.supported_resolutions.flatMap((resolution) =>
              ratios.map((ratio) => ({ model: entry.id, seconds, resolution, ratio })),
            ),
          );
          const text = { type: 'text', text: 'x'.repeat(items.length > 0 ? 9 : entry.prompt_max) };
          await Promise.all(
            orders.map(async (order) => {
              count += 1;
              const body = { ...order, content: [text, ...items] };
              const { status, json } = await demo.call('POST', '/v1/videos/estimate', body);
              const images = items.filter(({ type }) => type === 'image_url').length;
              const quantities = { output_second: order.seconds, input_image: images, request: 1, hold: 1 };
              const wanted = addPrices(entry, order.resolution, quantities);
              if (status !== 200 || json.amount !== wanted || json.currency !== entry.currency)
                faults.push({ body, json, wanted });
            }),
          );
        }
      }
      expect(faults.slice(0, 3)).toEqual([]);
      expect(count).toBeGreaterThan(400);
    },
    TEST_TIMEOUT_MS,
  );
});

describe('the charge', () => {
  const ORDER = { model: 'Alpha-H3', prompt: '[take:0] a red boat', seconds: '5', resolution: '768P' };
  const settle = async (id: string): Promise<unknown> => {
    let answer = await demo.call('GET', `/v1/videos/${id}`);
    await until(async () => {
      answer = await demo.call('GET', `/v1/videos/${id}`);
      return answer.json.charge !== undefined && answer.json.charge.state !== 'held';
    }, SETTLED_MS);
    return answer.json;
  };

  test(
    'is held, and then charged in reads, lists and the SDK of OpenRouter',
    async () => {
      const headers = { 'idempotency-key': 'the-charge' };
      const created = await demo.call('POST', '/v1/videos', ORDER, headers);
      const { id } = created.json as { readonly id: string };
      const first = await demo.call('GET', `/v1/videos/${id}`);
      expect(first.json).toMatchObject({ charge: { amount: '0.4', currency: 'USD' }, polling_url: `/v1/videos/${id}` });
      await demo.finish(id);

      expect(await settle(id)).toMatchObject({
        usage: { cost: 0.4 },
        charge: { state: 'charged', amount: '0.4', currency: 'USD' },
      });
      const page = (await demo.call('GET', '/v1/videos?limit=5')).json as { readonly data: readonly Item[] };
      expect(page.data.find((video) => video['id'] === id)).toMatchObject({
        usage: { cost: 0.4 },
        charge: { state: 'charged', amount: '0.4' },
      });
      expect(await openRouter(KEYS.demo).getGeneration({ jobId: id })).toMatchObject({
        id,
        status: 'completed',
        pollingUrl: `/v1/videos/${id}`,
        usage: { cost: 0.4 },
      });
      const video = await openRouter(KEYS.demo).getVideoContent({ jobId: id, index: 0 });
      expect((await new Response(video).arrayBuffer()).byteLength).toBe(VIDEO.byteLength);

      const replayed = await demo.call('POST', '/v1/videos', ORDER, headers);
      expect([replayed.headers.get('idempotent-replayed'), replayed.text]).toEqual(['true', created.text]);
      for (const path of [`/v2/query/video_generation/${id}`, `/v1/video/generations/${id}`])
        expect((await demo.call('GET', path)).text).not.toMatch(/"(charge|cost|polling_url)"/);
    },
    TEST_TIMEOUT_MS,
  );
  test(
    'of a failed task is released, and costs nothing',
    async () => {
      const id = await demo.create('/v1/videos', { ...ORDER, prompt: '[take:0] [fail:1026]' });
      await demo.finish(id, 'failed');

      expect(await settle(id)).toMatchObject({
        usage: { cost: 0 },
        charge: { state: 'released', amount: '0.4', currency: 'USD' },
      });
    },
    TEST_TIMEOUT_MS,
  );
});
