import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { OpenRouter } from '@openrouter/sdk';
import type { VideoGenerationRequest, VideoGenerationResponse } from '@openrouter/sdk/models';
import * as errors from '@openrouter/sdk/models/errors';
import { until } from '@reelgate/platform/testing/until';
import { experimental_generateVideo } from 'ai';
import { httpCaller } from '../harness/client.ts';
import { startScriptedProgram } from '../harness/scripted-program.ts';
import type { ScriptedProgram } from '../harness/scripted-program.ts';
import type { Work } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';

const FIXTURES = path.join(import.meta.dirname, '../../services/media/testing/fixtures');
const VIDEO = readFileSync(path.join(FIXTURES, '768p.mp4'));
const PNG = `data:image/png;base64,${readFileSync(path.join(FIXTURES, 'image.png')).toString('base64')}`;
const PAGE = readFileSync(path.join(import.meta.dirname, '../../deploy/examples/from-openrouter.md'), 'utf8');
const START_TIMEOUT_MS = 60_000;
const TEST_TIMEOUT_MS = 60_000;
const SOON_MS = 20_000;
const UNKNOWN = 'task_00000000000000000000000000';

let world: ScriptedProgram;
beforeAll(async () => {
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
  world = await startScriptedProgram();
}, START_TIMEOUT_MS);
afterAll(async () => {
  await world?.end();
}, START_TIMEOUT_MS);

const baseURL = (): string => `${world.program.base}/api/v1`;
/** The SDK as it comes, with its own repeats. */
const videos = (apiKey: string = KEYS.demo) => new OpenRouter({ apiKey, serverURL: baseURL() }).videoGeneration;
const words = (mark: string, more = '[take:0]'): string => `a red boat [mark:${mark}] ${more}`;
const workOf = (mark: string): Work | undefined => world.upstream.works.find((work) => work.mark === mark);
const create = (order: Partial<VideoGenerationRequest>, key: string = KEYS.demo): Promise<VideoGenerationResponse> =>
  videos(key).generate({ videoGenerationRequest: { model: 'Alpha-H3', prompt: 'a red boat', ...order } });
async function finish(
  jobId: string,
  isDone: (video: VideoGenerationResponse) => boolean,
): Promise<VideoGenerationResponse> {
  let video = await videos().getGeneration({ jobId });
  await until(async () => {
    video = await videos().getGeneration({ jobId });
    return isDone(video);
  }, SOON_MS);
  return video;
}
const bytesOf = async (url: string, headers: Readonly<Record<string, string>> = {}): Promise<Buffer> =>
  Buffer.from(await (await fetch(url, { headers })).arrayBuffer());
const authorization = `Bearer ${KEYS.demo}`;

describe('the SDK of OpenRouter', () => {
  test(
    'creates a video, polls it, and fetches it',
    async () => {
      const created = await create({
        prompt: words('whole'),
        duration: 6,
        aspectRatio: '9:16',
        resolution: '768p',
        frameImages: [
          { type: 'image_url', imageUrl: { url: PNG }, frameType: 'first_frame' },
          { type: 'image_url', imageUrl: { url: PNG }, frameType: 'last_frame' },
        ],
      });
      expect(created).toEqual({
        id: expect.stringMatching(/^task_/),
        pollingUrl: `${baseURL()}/videos/${created.id}`,
        status: 'pending',
      });

      // a fifth of a dollar for each reference begins after the fifth, so two frames are free
      const video = await finish(created.id, ({ usage }) => usage !== undefined);
      expect(video).toMatchObject({ id: created.id, status: 'completed', usage: { cost: 0.48, isByok: false } });
      expect(workOf('whole')?.order).toMatchObject({ duration: 6, ratio: '9:16', resolution: '768P' });

      const polled = await fetch(video.pollingUrl, { headers: { authorization } });
      expect(await polled.json()).toMatchObject({ id: created.id, status: 'completed' });
      const [link = ''] = video.unsignedUrls ?? [];
      expect(VIDEO.equals(await bytesOf(link))).toBe(true);
      expect(VIDEO.equals(await bytesOf(link, { authorization }))).toBe(true);
      const content = await videos().getVideoContent({ jobId: created.id, index: 0 });
      expect(VIDEO.equals(Buffer.from(await new Response(content).arrayBuffer()))).toBe(true);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'orders references of each kind',
    async () => {
      const { id } = await create({
        prompt: words('references'),
        inputReferences: [{ type: 'image_url', imageUrl: { url: PNG } }],
      });
      await finish(id, ({ status }) => status === 'completed');

      expect(JSON.stringify(workOf('references')?.order)).toContain('"role":"reference_image"');
    },
    TEST_TIMEOUT_MS,
  );

  test('lists the models with their limits and prices', async () => {
    const { data } = await videos().listVideosModels();

    expect(data.find(({ id }) => id === 'Alpha-H3')).toMatchObject({
      supportedResolutions: ['768P', '2K'],
      supportedFrameImages: ['first_frame', 'last_frame'],
      pricingSkus: { 'per-video-second-768p': '0.08' },
    });
    const { result } = await new OpenRouter({ apiKey: KEYS.narrow, serverURL: baseURL() }).models.list();
    expect(result.data.map(({ id, architecture }) => [id, architecture.outputModalities])).toEqual([
      ['Beta-V1', ['video']],
    ]);
  });

  test(
    'reads why a video failed, and that it cost nothing',
    async () => {
      const { id } = await create({ prompt: words('failed', '[take:0] [fail]') });

      const video = await finish(id, ({ usage }) => usage !== undefined);
      expect(video).toMatchObject({ status: 'failed', error: expect.stringMatching(/\S/), usage: { cost: 0 } });
      expect(video.unsignedUrls).toBeUndefined();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'and a client of another shape read the same tasks',
    async () => {
      const theirs = await world.demo.create('/v1/videos', { model: 'Alpha-H3', prompt: words('theirs', '[gate]') });
      const { id } = await create({ prompt: words('shared', '[gate]') });

      expect(await videos().getGeneration({ jobId: theirs })).toMatchObject({
        id: theirs,
        status: /^(pending|in_prog)/,
      });
      for (const target of [`/v1/videos/${id}`, `/v1/video/generations/${id}`, `/v2/query/video_generation/${id}`])
        expect((await world.demo.call('GET', target)).json).toMatchObject({ task_id: id });
      world.upstream.openGate();
    },
    TEST_TIMEOUT_MS,
  );
});

describe('the SDK of OpenRouter raises a refusal as its own error', () => {
  const refusal = async (call: () => Promise<unknown>): Promise<errors.OpenRouterError> => {
    const error = await call().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (error instanceof errors.OpenRouterError) return error;
    throw new Error('it was not refused', { cause: error });
  };
  type ErrorClass = new (...given: never[]) => errors.OpenRouterError;

  test.each<[string, () => Promise<unknown>, ErrorClass, number, string]>([
    [
      'an unknown token',
      () => create({}, 'sk-nobody-0123456789'),
      errors.UnauthorizedResponseError,
      401,
      'invalid_api_key',
    ],
    ['a size in words', () => create({ size: 'wide' }), errors.BadRequestResponseError, 400, 'invalid_request'],
    [
      'a length that the model has not',
      () => create({ duration: 99 }),
      errors.BadRequestResponseError,
      400,
      'invalid_duration',
    ],
    ['no money', () => create({}, KEYS.poor), errors.PaymentRequiredResponseError, 402, 'insufficient_quota'],
    ['a model of others', () => create({}, KEYS.narrow), errors.NotFoundResponseError, 404, 'model_not_found'],
    [
      'a task that is not there',
      () => videos().getGeneration({ jobId: UNKNOWN }),
      errors.NotFoundResponseError,
      404,
      'task_not_found',
    ],
    [
      'the content of a task that is not there',
      () => videos().getVideoContent({ jobId: UNKNOWN }),
      errors.NotFoundResponseError,
      404,
      'task_not_found',
    ],
    [
      'a second video of a task',
      () => videos().getVideoContent({ jobId: UNKNOWN, index: 1 }),
      errors.BadRequestResponseError,
      400,
      'invalid_request',
    ],
  ])('%s', async (_what, call, type, status, reason) => {
    const error = await refusal(call);

    expect(error).toBeInstanceOf(type);
    expect(error.statusCode).toBe(status);
    expect(JSON.parse(error.body)).toEqual({
      error: { code: status, message: expect.stringMatching(/\S/), metadata: expect.objectContaining({ reason }) },
    });
  });

  test('a task of another account is not there, and its content is not ready for its own', async () => {
    const { id } = await create({ prompt: words('unready', '[gate]') });

    expect(await refusal(() => videos(KEYS.other).getGeneration({ jobId: id }))).toBeInstanceOf(
      errors.NotFoundResponseError,
    );
    expect(await refusal(() => videos().getVideoContent({ jobId: id }))).toBeInstanceOf(errors.ConflictResponseError);
    world.upstream.openGate();
  });

  test('a route that is not served is refused at once, because the SDK would repeat a 5xx for an hour', async () => {
    const { credits, apiKeys } = new OpenRouter({ apiKey: KEYS.demo, serverURL: baseURL() });

    for (const call of [() => credits.getCredits(), () => apiKeys.getCurrentKeyMetadata()])
      expect(await refusal(call)).toMatchObject({ statusCode: 404 });
  });
});

type Outcome = 'taken' | 'refused' | 'refused here, where no generator takes it';
const image = { type: 'image_url' as const, imageUrl: { url: PNG } };
/** A value of each field of the SDK, and what becomes of it. A field without a row does not compile. */
const FIELDS: { readonly [K in keyof VideoGenerationRequest]-?: readonly [VideoGenerationRequest[K], Outcome] } = {
  model: ['Alpha-H3', 'taken'],
  prompt: ['a blue boat', 'taken'],
  duration: [4, 'taken'],
  aspectRatio: ['1:1', 'taken'],
  size: ['1280x720', 'taken'],
  resolution: ['768p', 'taken'],
  frameImages: [[{ ...image, frameType: 'last_frame' }], 'taken'],
  inputReferences: [[image], 'taken'],
  seed: [7, 'refused here, where no generator takes it'],
  generateAudio: [false, 'refused here, where no generator takes it'],
  user: ['u', 'taken'],
  sessionId: ['s', 'taken'],
  trace: [{ traceId: 't', additionalProperties: { team: 'a' } }, 'taken'],
  callbackUrl: ['https://x.example/hook', 'refused'],
  provider: [{ options: { runway: { a: 1 } } }, 'refused'],
  previousJobId: [UNKNOWN, 'refused'],
  creativity: [1, 'refused'],
  upscaleFactor: [2, 'refused'],
};

describe('each field of the SDK is taken, or refused by its name, as the page says', () => {
  test.each(Object.entries(FIELDS))('%s', async (field, [value, outcome]) => {
    const name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    const row = PAGE.split('\n').find((line) => line.startsWith('|') && line.split('|')[1]?.includes(`\`${name}\``));
    const refusal = await create({ [field]: value }).then(
      () => undefined,
      (error: unknown) => (error as Error).message,
    );

    expect(row?.includes('refused')).toBe(outcome !== 'taken');
    expect(refusal?.startsWith(`${name} `)).toBe(outcome === 'taken' ? undefined : true);
  });
});

test(
  'a create has the keys, labels, bounds and estimates of every other create',
  async () => {
    const { call } = httpCaller(world.program.base, KEYS.demo);
    const order = { model: 'Alpha-H3', prompt: words('keyed'), duration: 4 };
    const headers = { 'idempotency-key': 'openrouter-1', 'reelgate-label': 'spring', prefer: 'queue=wait' };
    const [first, again] = [
      await call('POST', '/api/v1/videos', order, headers),
      await call('POST', '/api/v1/videos', order, headers),
    ];

    expect([first.status, again.status, again.text]).toEqual([202, 202, first.text]);
    expect([again.headers.get('idempotent-replayed'), first.headers.get('preference-applied')]).toEqual([
      'true',
      'queue=wait',
    ]);
    const { id } = first.json as { readonly id: string };
    expect((await call('GET', `/v1/videos/${id}`)).json).toMatchObject({ label: 'spring' });
    expect((await call('POST', '/v1/videos/estimate?path=/api/v1/videos', order)).json).toMatchObject({
      amount: '0.32',
    });
    const bounded = await call('POST', '/api/v1/videos', { ...order, max_amount: '0.01' });
    expect([bounded.status, bounded.json.error]).toEqual([
      422,
      {
        code: 422,
        message: expect.any(String),
        metadata: {
          reason: 'price_above_max',
          param: 'max_amount',
          amount: '0.32',
          currency: 'USD',
          max_amount: '0.32',
        },
      },
    ]);
    const waited = await call('GET', `/api/v1/videos/${id}`, undefined, { prefer: 'wait=10' });
    expect([waited.status, waited.headers.get('preference-applied')]).toEqual([200, 'wait=10']);
  },
  TEST_TIMEOUT_MS,
);

describe("OpenRouter's provider of the AI SDK", () => {
  const provider = () => createOpenRouter({ baseURL: baseURL(), apiKey: KEYS.demo });
  const model = () => provider().videoModel('Alpha-H3', { pollIntervalMs: 20 });

  test(
    'makes a video from a picture, and returns its bytes',
    async () => {
      const { videos: made, providerMetadata } = await experimental_generateVideo({
        model: model(),
        prompt: { text: words('ai-sdk'), image: PNG },
        aspectRatio: '9:16',
        duration: 6,
        download: async ({ url }) => ({ data: await bytesOf(url.href), mediaType: 'video/mp4' }),
      });

      expect(made.map(({ uint8Array, mediaType }) => [VIDEO.equals(uint8Array), mediaType])).toEqual([
        [true, 'video/mp4'],
      ]);
      expect(workOf('ai-sdk')?.order).toMatchObject({ duration: 6, ratio: '9:16', resolution: '768P' });
      expect(providerMetadata).toMatchObject({ openrouter: { generationId: null } });
    },
    TEST_TIMEOUT_MS,
  );

  test('raises the message of a refusal and of a failure', async () => {
    const generate = (order: object) =>
      experimental_generateVideo({ model: model(), prompt: words('refused'), maxRetries: 0, ...order });

    await expect(generate({ duration: 99 })).rejects.toMatchObject({
      statusCode: 400,
      message: expect.stringMatching(/^duration /),
    });
    await expect(generate({ prompt: words('broken', '[take:0] [fail]') })).rejects.toThrow(/\S/);
  });
});
