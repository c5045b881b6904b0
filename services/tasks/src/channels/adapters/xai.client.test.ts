import { createXai } from '@ai-sdk/xai';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { Secret } from '@reelgate/platform/secret';
import { anAttempt } from '../../../testing/an-attempt.ts';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { HELD_BACK_WORD, openFakeXai, REFUSED_WORD, XAI_KEY, XAI_VIDEO } from '../../../testing/upstreams/xai.ts';
import type { FakeXai } from '../../../testing/upstreams/xai.ts';
import { channelFactory } from '../adapter-channel.ts';
import type { AttemptItem, Channel, ChannelSettings, PlannedAttempt } from '../channel.ts';
import { xai } from './xai.ts';

const signal = new AbortController().signal;
const FRAME: AttemptItem = { media: 'image', role: 'first_frame', url: 'https://media.example/a.png' };
const REFERENCE: AttemptItem = { ...FRAME, role: 'reference_image' };
const UNLISTED = { id: 'grok-imagine-video-2' };

let fake: FakeXai;
const opened: Channel[] = [];

beforeAll(async () => {
  fake = await openFakeXai();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((channel) => channel.close()));
});
afterAll(() => fake.stop());

function open(changes: Partial<ChannelSettings> = {}): Channel {
  const channel = channelFactory(xai)(
    channelSettings({ baseUrl: fake.url, apiKey: new Secret(XAI_KEY), ...changes }),
    systemClock,
  );
  opened.push(channel);
  return channel;
}

const planFor = (changes: Partial<PlannedAttempt> = {}): PlannedAttempt =>
  anAttempt({ model: 'grok-imagine-video-1.5', resolution: '720P', ...changes });

describe('the client of the vendor', () => {
  const openModel = (apiKey = XAI_KEY) =>
    createXai({ baseURL: `${fake.url}/v1`, apiKey }).video('grok-imagine-video-1.5');
  const order = {
    prompt: 'a fox',
    n: 1,
    aspectRatio: '16:9',
    resolution: '1280x720',
    duration: 6,
    image: { type: 'url', url: 'https://media.example/a.png' },
    providerOptions: {},
    fps: undefined,
    seed: undefined,
    generateAudio: undefined,
    frameImages: undefined,
    inputReferences: undefined,
  } as const;

  test('makes a video at the fake', async () => {
    const model = openModel();
    const { operation } = await model.doStart!({ ...order });
    const polls = [];
    for (let poll = 0; poll < 3; poll += 1) polls.push(await model.doStatus!({ operation }));

    expect(fake.orders.at(-1)).toEqual({
      model: 'grok-imagine-video-1.5',
      prompt: 'a fox',
      duration: 6,
      aspect_ratio: '16:9',
      resolution: '720p',
      image: { url: 'https://media.example/a.png' },
    });
    expect(polls).toMatchObject([
      { status: 'pending' },
      { status: 'pending' },
      { status: 'completed', videos: [{ type: 'url', url: expect.stringContaining(fake.url) }] },
    ]);
  });

  test('understands a refusal of the fake', async () => {
    await expect(openModel('another').doStart!({ ...order })).rejects.toThrow(/Incorrect API key/);
  });
});

describe('the adapter at the fake', () => {
  test('makes a video', async () => {
    const channel = open();
    const submission = await channel.submit(planFor({ content: [{ text: 'a fox' }, FRAME], duration: 6 }), signal);
    const { upstreamId } = submission as Extract<typeof submission, { outcome: 'accepted' }>;
    const polls = [];
    for (let poll = 0; poll < 3; poll += 1) polls.push(await channel.poll(upstreamId, signal));

    expect(polls).toMatchObject([
      { report: { phase: 'running' } },
      { report: { phase: 'running', progress: 40 } },
      { report: { phase: 'succeeded', usage: { outputSeconds: 6 }, costMicroUsd: 300_000 } },
    ]);
    const { report } = polls[2] as { report: { url: string } };
    expect(await (await fetch(report.url)).text()).toBe(XAI_VIDEO);
  });

  test.each<[string, PlannedAttempt, Partial<ChannelSettings>, string]>([
    ['content', planFor({ content: [{ text: `a ${REFUSED_WORD} fox` }] }), {}, 'content'],
    ['a key', planFor(), { apiKey: new Secret('another') }, 'credential'],
    ['a model', planFor({ model: UNLISTED.id }), { options: { models: { [UNLISTED.id]: {} } } }, 'channel'],
  ])('learns that the upstream refuses %s', async (_what, attempt, settings, fault) => {
    expect(await open(settings).submit(attempt, signal)).toMatchObject({ outcome: 'refused', fault });
  });

  test('fails work that moderation stops', async () => {
    const channel = open();
    const submission = await channel.submit(planFor({ content: [{ text: `a ${HELD_BACK_WORD} fox` }] }), signal);
    const { upstreamId } = submission as Extract<typeof submission, { outcome: 'accepted' }>;
    await channel.poll(upstreamId, signal);
    await channel.poll(upstreamId, signal);

    expect(await channel.poll(upstreamId, signal)).toMatchObject({
      report: { phase: 'failed', failure: { code: 'content_rejected' } },
    });
  });

  test('finds no work under an unknown id, and cannot cancel, list or search', async () => {
    const channel = open();

    expect(await channel.poll('req-9999', signal)).toMatchObject({ found: false, gone: true });
    expect(await channel.cancel('req-1', signal)).toBe(false);
    expect(await channel.list(0, signal)).toBeUndefined();
    expect(channel.canFind).toBe(false);
    expect(await channel.test(signal)).toMatchObject({ ok: true });
  });

  test('takes the row of a model from its options', async () => {
    const orders = fake.orders.length;
    const channel = open({ options: { models: { 'grok-imagine-video': { seconds: [5], frames: 'none' } } } });
    const model = 'grok-imagine-video';

    expect(await channel.submit(planFor({ model }), signal)).toMatchObject({ outcome: 'accepted' });
    expect(await channel.submit(planFor({ model, duration: 6 }), signal)).toMatchObject({ fault: 'unfit' });
    expect(fake.orders).toHaveLength(orders + 1);
  });

  test.each<[string, Partial<PlannedAttempt>]>([
    ['an unknown model', { model: 'grok-9' }],
    ["a model with the name of an object's built-in property", { model: 'toString' }],
    ['16 seconds', { duration: 16 }],
    ['a ratio', { ratio: '21:9' }],
    ['1080p of the first model', { model: 'grok-imagine-video', resolution: '1080P' }],
    ['1080p with references', { resolution: '1080P', content: [REFERENCE] }],
    ['11 seconds with references', { duration: 11, content: [REFERENCE] }],
    ['8 references', { content: Array.from({ length: 8 }, () => REFERENCE) }],
    ['a frame with references', { content: [FRAME, REFERENCE] }],
    [
      'a last frame of the first model',
      { model: 'grok-imagine-video', content: [FRAME, { ...FRAME, role: 'last_frame' }] },
    ],
    ['a last frame alone', { content: [{ ...FRAME, role: 'last_frame' }] }],
    [
      'a reference video',
      { content: [{ media: 'video', role: 'reference_video', url: 'https://media.example/a.mp4' }] },
    ],
  ])('sends no order of %s', async (_what, changes) => {
    const orders = fake.orders.length;

    expect(await open().submit(planFor(changes), signal)).toMatchObject({ outcome: 'refused', fault: 'unfit' });
    expect(fake.orders).toHaveLength(orders);
  });
});
