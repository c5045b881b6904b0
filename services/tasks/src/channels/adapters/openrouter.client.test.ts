import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { OpenRouter } from '@openrouter/sdk';
import { readObject } from '@reelgate/adapter-kit/kit';
import { systemClock } from '@reelgate/platform/clock';
import { Secret } from '@reelgate/platform/secret';
import { anAttempt } from '../../../testing/an-attempt.ts';
import { channelSettings } from '../../../testing/channel-settings.ts';
import {
  FLAGGED_PROMPT,
  openFakeOpenRouter,
  OPENROUTER_COST,
  OPENROUTER_VIDEO,
  REFUSED_PROMPT,
} from '../../../testing/upstreams/openrouter.ts';
import type { FakeOpenRouter } from '../../../testing/upstreams/openrouter.ts';
import { channelFactory } from '../adapter-channel.ts';
import type { AttemptItem, Channel, PlannedAttempt } from '../channel.ts';
import { openrouter } from './openrouter.ts';

const API_KEY = 'sk-or-0123456789';
const MODEL = 'google/veo-3.1';
const CALLBACK = 'https://gateway.example/callbacks/task.1.abc';
const FRAME: AttemptItem = { media: 'image', role: 'first_frame', url: 'https://media.example/a.png' };
const signal = new AbortController().signal;

let upstream: FakeOpenRouter;
const opened: Channel[] = [];

beforeEach(async () => {
  upstream = await openFakeOpenRouter(API_KEY);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((channel) => channel.close()));
  await upstream.close();
});

function open(apiKey = API_KEY, options = {}): Channel {
  const settings = channelSettings({
    adapter: 'openrouter',
    baseUrl: upstream.url,
    apiKey: new Secret(apiKey),
    options,
  });
  const channel = channelFactory(openrouter)(settings, systemClock);
  opened.push(channel);
  return channel;
}

const planWith = (order: Partial<PlannedAttempt> = {}): PlannedAttempt =>
  anAttempt({ model: MODEL, resolution: '720P', duration: 8, ...order });

async function submit(channel: Channel, plan: PlannedAttempt): Promise<string> {
  const submission = await channel.submit(plan, signal);
  if (submission.outcome !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(submission)}`);
  return submission.upstreamId;
}

describe('@openrouter/sdk takes the fake for the API', () => {
  const openClient = (apiKey = API_KEY) =>
    new OpenRouter({ apiKey, serverURL: `${upstream.url}/api/v1`, retryConfig: { strategy: 'none' } }).videoGeneration;

  test('from the creation of a job to its video', async () => {
    const client = openClient();
    const models = await client.listVideosModels();
    const created = await client.generate({
      videoGenerationRequest: {
        model: MODEL,
        prompt: 'a fox',
        duration: 8,
        resolution: '720p',
        aspectRatio: '16:9',
        generateAudio: true,
        seed: 7,
        frameImages: [
          { type: 'image_url', imageUrl: { url: 'https://media.example/a.png' }, frameType: 'first_frame' },
        ],
        callbackUrl: CALLBACK,
      },
    });
    const statuses = [created.status];
    for (let poll = 0; poll < 3; poll += 1) statuses.push((await client.getGeneration({ jobId: created.id })).status);
    const video = await client.getVideoContent({ jobId: created.id, index: 0 });

    expect(models.data.map(({ id }) => id)).toEqual([MODEL]);
    expect(statuses).toEqual(['pending', 'pending', 'in_progress', 'completed']);
    expect(await new Response(video).text()).toBe(OPENROUTER_VIDEO);
  });

  test.each([
    ['an unknown model', API_KEY, { model: 'google/veo-9' }, 404],
    ['a flagged prompt', API_KEY, { model: MODEL, prompt: FLAGGED_PROMPT }, 403],
    ['a wrong key', 'another-key', { model: MODEL }, 401],
  ])('and its refusal of %s', async (_what, apiKey, request, statusCode) => {
    await expect(openClient(apiKey).generate({ videoGenerationRequest: request })).rejects.toMatchObject({
      statusCode,
    });
  });
});

test('an order goes from its submission to its video, with its cost and the key', async () => {
  const channel = open();
  const content = [{ text: 'a fox' }, FRAME, { ...FRAME, role: 'last_frame' }] as AttemptItem[];
  const id = await submit(channel, planWith({ content }));
  const polls = [await channel.poll(id, signal), await channel.poll(id, signal), await channel.poll(id, signal)];

  expect(polls).toMatchObject([
    { report: { phase: 'queued' } },
    { report: { phase: 'running' } },
    { report: { phase: 'succeeded', costMicroUsd: OPENROUTER_COST * 1_000_000 } },
  ]);
  const { url, credential } = (polls[2] as unknown as { report: { url: string; credential: Credential } }).report;
  expect((await fetch(url)).status).toBe(401);
  const headers = { [credential.header]: credential.value.reveal() };
  expect(await (await fetch(url, { headers })).text()).toBe(OPENROUTER_VIDEO);
});

interface Credential {
  readonly header: string;
  readonly value: Secret;
}

test('references of every kind are taken', async () => {
  const content: AttemptItem[] = [
    { media: 'image', role: 'reference_image', url: 'data:image/png;base64,iVBORw0KGgo=' },
    { media: 'video', role: 'reference_video', url: 'https://media.example/a.mp4' },
    { media: 'audio', role: 'reference_audio', url: 'https://media.example/a.mp3' },
  ];

  expect(await open().submit(planWith({ content, ratio: 'adaptive', resolution: '4k' }), signal)).toMatchObject({
    outcome: 'accepted',
  });
});

test.each<[string, string, Partial<PlannedAttempt>, string]>([
  ['a flagged prompt', API_KEY, { content: [{ text: FLAGGED_PROMPT }] }, 'content'],
  ['an unknown model', API_KEY, { model: 'google/veo-9' }, 'channel'],
  ['a callback URL that it does not take', API_KEY, { callbackUrl: 'http://gateway.example/callbacks/1' }, 'channel'],
  ['a wrong key', 'another-key', {}, 'credential'],
])('the upstream refuses %s', async (_what, apiKey, order, fault) => {
  expect(await open(apiKey).submit(planWith(order), signal)).toMatchObject({ outcome: 'refused', fault });
});

test('a content that a provider refuses fails the work', async () => {
  const channel = open();
  const id = await submit(channel, planWith({ content: [{ text: REFUSED_PROMPT }] }));
  await channel.poll(id, signal);
  await channel.poll(id, signal);

  expect(await channel.poll(id, signal)).toMatchObject({
    report: { phase: 'failed', failure: { code: 'content_rejected' } },
  });
});

test('an unknown id is gone, and nothing can be cancelled, listed or searched', async () => {
  const channel = open();

  expect(await channel.poll('gen-vid-0', signal)).toMatchObject({ found: false, gone: true });
  expect(await channel.cancel('gen-vid-0', signal)).toBe(false);
  expect(await channel.list(0, signal)).toBeUndefined();
  expect(channel.canFind).toBe(false);
  expect(upstream.requests).toHaveLength(1);
});

test('the key is tested without a cost', async () => {
  expect(await open().test(signal)).toMatchObject({ ok: true });
  expect(await open('another-key').test(signal)).toEqual({ ok: false, detail: 'User not found.' });
});

test('a callback names the work, and its signature has the form that the adapter declares', async () => {
  const id = await submit(open(), planWith({ callbackUrl: CALLBACK }));
  const { url, headers, body } = upstream.writeCallback(id, 'whsec', 1_764_000_000);
  const { signature, readId } = openrouter.callbacks!;
  if (signature?.form !== 'timestamped-hmac') throw new Error('another form');

  expect(url).toBe(CALLBACK);
  expect(readId(readObject(JSON.parse(body)))).toBe(id);
  const mac = createHmac('sha256', 'whsec').update(`1764000000${signature.joiner}${body}`).digest('hex');
  expect(headers[signature.header]).toBe(`t=1764000000,v1=${mac}`);
});

test.each([{}, { data: null }, { data: 'gen-vid-1' }, { data: { id: 7.5 } }, { data: { id: '' } }])(
  'a callback without an id names no work: %j',
  (body) => {
    expect(openrouter.callbacks!.readId(body)).toBeUndefined();
  },
);

describe('an order that cannot be expressed is refused without a call', () => {
  const models = { [MODEL]: { seconds: [4, 6, 8], resolutions: ['720p'], frames: 'first' as const } };

  test.each<[string, object, Partial<PlannedAttempt>]>([
    ['a ratio that the API does not have', {}, { ratio: '5:4' }],
    ['a resolution that the API does not have', {}, { resolution: '540P' }],
    [
      'frames beside references, which it would ignore',
      {},
      { content: [FRAME, { ...FRAME, role: 'reference_image' }] },
    ],
    ['a base video', {}, { content: [{ media: 'video', role: 'base_video', url: 'https://media.example/a.mp4' }] }],
    ['a length that the row of the model does not have', { models }, { duration: 5 }],
    ['a last frame that its row does not have', { models }, { content: [FRAME, { ...FRAME, role: 'last_frame' }] }],
  ])('%s', async (_what, options, order) => {
    expect(await open(API_KEY, options).submit(planWith(order), signal)).toMatchObject({
      outcome: 'refused',
      fault: 'unfit',
    });
    expect(upstream.requests).toEqual([]);
  });

  test('but one that the row of its model has is sent', async () => {
    await submit(open(API_KEY, { models, generate_audio: false }), planWith({ content: [FRAME] }));

    expect(upstream.lastJob()).toMatchObject({ model: MODEL, duration: 8, generate_audio: false });
  });
});
