import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Json } from '@reelgate/adapter-kit';
import { systemClock } from '@reelgate/platform/clock';
import { Ajv } from '@reelgate/platform/json-schema';
import { Secret } from '@reelgate/platform/secret';
import Replicate, { validateWebhook } from 'replicate';
import { anAttempt } from '../../../testing/an-attempt.ts';
import { channelSettings } from '../../../testing/channel-settings.ts';
import {
  FLAGGED_WORD,
  openFakeReplicate,
  REPLICATE_KEY,
  REPLICATE_SECRET,
  REPLICATE_VERSION,
  REPLICATE_VIDEO,
} from '../../../testing/upstreams/replicate.ts';
import type { FakeReplicate } from '../../../testing/upstreams/replicate.ts';
import { channelFactory } from '../adapter-channel.ts';
import type { AttemptItem, Channel, ChannelSettings, PlannedAttempt } from '../channel.ts';
import { replicate } from './replicate.ts';

const signal = new AbortController().signal;
const VEO = 'google/veo-3.1';
const KLING = 'kwaivgi/kling-v2.5-turbo-pro';
const HAILUO = 'minimax/hailuo-2.3';
const CLIPS = `acme/clips:${REPLICATE_VERSION}`;
const FRAME: AttemptItem = { media: 'image', role: 'first_frame', url: 'https://media.example/a.png' };
const LAST: AttemptItem = { ...FRAME, role: 'last_frame' };
const REFERENCE: AttemptItem = { ...FRAME, role: 'reference_image' };
const LATER_MS = 600_000;
/** Neither a ratio nor a resolution. */
const UNFRAMED = { ratio: undefined, resolution: undefined };

let fake: FakeReplicate;
const opened: Channel[] = [];

beforeAll(async () => {
  fake = await openFakeReplicate();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((channel) => channel.close()));
});
afterAll(() => fake.stop());

/** Opens a channel at the fake. `later`: its clock is ahead, so the upstream must know each attempt by now. */
function open(changes: Partial<ChannelSettings> = {}, later = false): Channel {
  const channel = channelFactory(replicate)(
    channelSettings({ baseUrl: fake.url, apiKey: new Secret(REPLICATE_KEY), ...changes }),
    later ? { ...systemClock, now: () => Date.now() + LATER_MS } : systemClock,
  );
  opened.push(channel);
  return channel;
}

const planFor = (changes: Partial<PlannedAttempt> = {}): PlannedAttempt =>
  anAttempt({ model: VEO, duration: 8, resolution: '720P', ...changes });

async function submitAccepted(channel: Channel, attempt: PlannedAttempt): Promise<string> {
  const submission = await channel.submit(attempt, signal);
  if (submission.outcome !== 'accepted') throw new Error(JSON.stringify(submission));
  return submission.upstreamId;
}

describe('the client of the vendor', () => {
  const openClient = (auth = REPLICATE_KEY): Replicate => new Replicate({ auth, baseUrl: `${fake.url}/v1` });
  const order = {
    model: VEO,
    input: { prompt: 'a fox', duration: 8, generate_audio: true },
    webhook: 'https://gateway.example/callbacks/1',
    webhook_events_filter: ['completed'] as 'completed'[],
  };

  test('makes a video at the fake, lists it, and proves the signature of its callback', async () => {
    const client = openClient();
    const { id } = await client.predictions.create(order);
    const polls = [];
    for (let poll = 0; poll < 3; poll += 1) polls.push(await client.predictions.get(id));

    expect(polls).toMatchObject([
      { status: 'starting', output: null },
      { status: 'processing' },
      { status: 'succeeded', output: expect.stringContaining(fake.url), webhook: order.webhook },
    ]);
    expect((await client.predictions.list()).results[0]).toMatchObject({ id, model: VEO });
    expect(await client.accounts.current()).toMatchObject({ username: 'acme' });
    const callback = fake.signCallback(id);
    const request = new Request(order.webhook, { method: 'POST', ...callback });
    expect(await validateWebhook(request, REPLICATE_SECRET)).toBe(true);
    expect(replicate.callbacks?.readId(JSON.parse(callback.body) as Json)).toBe(id);
  });

  test('cancels work at the fake, and understands its refusals', async () => {
    const client = openClient();
    const { id } = await client.predictions.create({ version: REPLICATE_VERSION, input: { text: 'a fox' } });

    expect(await client.predictions.cancel(id)).toMatchObject({ id, status: 'canceled' });
    await expect(client.predictions.create({ ...order, input: { prompt: 7 } })).rejects.toThrow(/422.*input\.prompt/);
    await expect(openClient('another').predictions.create(order)).rejects.toThrow(/401/);
  });
});

describe('the adapter at the fake', () => {
  test('makes a video', async () => {
    const channel = open();
    const id = await submitAccepted(channel, planFor({ content: [{ text: 'a fox' }, FRAME, LAST] }));
    const polls = [];
    for (let poll = 0; poll < 3; poll += 1) polls.push(await channel.poll(id, signal));

    expect(polls).toMatchObject([
      { report: { phase: 'queued' } },
      { report: { phase: 'running' } },
      { report: { phase: 'succeeded', urlDiesAt: expect.any(Number), endedAt: expect.any(Number) } },
    ]);
    expect(fake.orders.at(-1)).toMatchObject({
      path: `/v1/models/${VEO}/predictions`,
      input: { prompt: 'a fox', duration: 8, image: FRAME.url, last_frame: LAST.url },
    });
    const { report } = polls[2] as { report: { url: string } };
    expect(await (await fetch(report.url)).text()).toBe(REPLICATE_VIDEO);
  });

  test.each<[string, PlannedAttempt, Partial<ChannelSettings>, string]>([
    // The row names an input that the model does not have.
    [
      'an input',
      planFor({ ...UNFRAMED }),
      { options: { models: { [VEO]: { inputs: { duration: 'length' } } } } },
      'order',
    ],
    ['a key', planFor(), { apiKey: new Secret('another') }, 'credential'],
    ['a model', planFor({ model: HAILUO, duration: 6, resolution: '768P' }), {}, 'channel'],
  ])('learns that the upstream refuses %s', async (_what, attempt, settings, fault) => {
    expect(await open(settings).submit(attempt, signal)).toMatchObject({ outcome: 'refused', fault });
  });

  test('fails work whose content is refused', async () => {
    const channel = open();
    const id = await submitAccepted(channel, planFor({ content: [{ text: `a ${FLAGGED_WORD} fox` }] }));
    await channel.poll(id, signal);
    await channel.poll(id, signal);

    expect(await channel.poll(id, signal)).toMatchObject({
      report: { phase: 'failed', failure: { code: 'content_rejected' } },
    });
  });

  test('cancels work once, and reads its account', async () => {
    const channel = open();
    const id = await submitAccepted(channel, planFor());

    expect(await channel.cancel(id, signal)).toBe(true);
    expect(await channel.poll(id, signal)).toMatchObject({ report: { phase: 'failed', status: 'canceled' } });
    expect(await channel.test(signal)).toMatchObject({ ok: true });
  });

  test('does not cancel ended work', async () => {
    const channel = open();
    const id = await submitAccepted(channel, planFor());
    await channel.poll(id, signal);
    await channel.poll(id, signal);

    expect(await channel.cancel(id, signal)).toBe(false);
    expect(await channel.poll(id, signal)).toMatchObject({ report: { phase: 'succeeded' } });
  });

  test('finds no work under an unknown id', async () => {
    expect(await open().poll('p9999', signal)).toMatchObject({ found: false, gone: true });
    expect(await open().cancel('p9999', signal)).toBe(false);
  });

  test('lists its work with the frame of each order', async () => {
    const channel = open();
    const id = await submitAccepted(channel, planFor());

    expect((await channel.list(0, signal))?.[0]).toMatchObject({
      upstreamId: id,
      model: VEO,
      duration: 8,
      resolution: '720p',
      ratio: '16:9',
    });
  });

  test('takes a model from its options, by its version and with other names of inputs', async () => {
    const row = { seconds: { least: 1, most: 5 }, inputs: { prompt: 'text', duration: 'length' } };
    const channel = open({ options: { models: { [CLIPS]: row } } });
    const id = await submitAccepted(channel, planFor({ ...UNFRAMED, model: CLIPS, duration: 5 }));

    expect(fake.orders.at(-1)).toEqual({
      path: '/v1/predictions',
      version: REPLICATE_VERSION,
      input: { text: 'a fox', length: 5 },
    });
    expect((await channel.list(0, signal))?.[0]).toMatchObject({ upstreamId: id, model: CLIPS, duration: 5 });
    expect(await channel.submit(planFor({ ...UNFRAMED, model: CLIPS, duration: 6 }), signal)).toMatchObject({
      fault: 'unfit',
    });
  });
});

describe('a lost answer', () => {
  const HOOK = 'https://gateway.example/callbacks/lost-1';
  const search = { key: 'lost-1', model: VEO, callbackUrl: HOOK };

  test('leads to the work of the order among others, on any page', async () => {
    const [channel, startedAt] = [open(), Date.now()];
    fake.loseNextAnswer();
    const submission = await channel.submit(planFor({ callbackUrl: HOOK }), signal);
    const id = `p${fake.orders.length}`;
    for (let other = 0; other < 5; other += 1)
      await submitAccepted(channel, planFor({ callbackUrl: `${HOOK}${other}` }));

    expect(submission).toMatchObject({ outcome: 'unknown' });
    expect(await channel.find({ ...search, startedAt, endedAt: startedAt }, signal)).toEqual({
      outcome: 'accepted',
      upstreamId: id,
    });
  });

  test('of an order that never arrived is told from one that the upstream may not know yet', async () => {
    const lost = {
      ...search,
      model: 'minimax/hailuo-2.3',
      callbackUrl: `${HOOK}-never`,
      startedAt: Date.now(),
      endedAt: Date.now(),
    };

    expect(await open().find(lost, signal)).toMatchObject({ outcome: 'cannot know' });
    expect(await open({}, true).find(lost, signal)).toEqual({ outcome: 'never arrived' });
  });

  test('proves nothing beside work of the same model without a webhook', async () => {
    const lost = { ...search, callbackUrl: `${HOOK}-never`, startedAt: Date.now(), endedAt: Date.now() };
    await submitAccepted(open(), planFor());

    expect(await open({}, true).find(lost, signal)).toMatchObject({ outcome: 'cannot know' });
  });
});

describe('the adapter', () => {
  const media = (role: 'reference_video' | 'reference_audio'): AttemptItem => ({
    media: role === 'reference_video' ? 'video' : 'audio',
    role,
    url: 'https://media.example/a',
  });

  test.each<[string, Partial<PlannedAttempt>]>([
    ['an unknown model', { model: 'acme/other' }],
    ["a model with the name of an object's built-in property", { model: 'toString' }],
    ['5 seconds of Veo', { duration: 5 }],
    ['a ratio that Veo does not make', { ratio: '1:1' }],
    ['a resolution that Veo does not make', { resolution: '2K' }],
    ['4 references', { content: Array.from({ length: 4 }, () => REFERENCE) }],
    ['a frame with references', { content: [FRAME, REFERENCE] }],
    ['a last frame alone', { content: [LAST] }],
    ['a reference video', { content: [media('reference_video')] }],
    ['a reference audio', { content: [media('reference_audio')] }],
    ['a file of more than 256 KB', { content: [{ ...FRAME, url: `data:image/png;base64,${'A'.repeat(262_144)}` }] }],
    ['another resolution than the one of Kling', { model: KLING, duration: 5, resolution: '720P' }],
    ['10 seconds of Hailuo at 1080p', { model: HAILUO, duration: 10, resolution: '1080P' }],
    [
      'a text to Hailuo at another ratio than its own',
      { model: HAILUO, duration: 6, resolution: '768P', ratio: '9:16' },
    ],
    ['a last frame to Seedance', { model: 'bytedance/seedance-2.0-fast', content: [FRAME, LAST] }],
    ['a frame to Wan', { model: 'wan-video/wan-2.7-t2v', content: [FRAME] }],
  ])('sends no order of %s', async (_what, changes) => {
    const orders = fake.orders.length;

    expect(await open().submit(planFor(changes), signal)).toMatchObject({ outcome: 'refused', fault: 'unfit' });
    expect(fake.orders).toHaveLength(orders);
  });

  test.each<[string, object, Partial<PlannedAttempt>]>([
    ['a length', { inputs: {} }, { ...UNFRAMED }],
    ['a resolution', { inputs: { duration: 'duration' } }, { ratio: undefined }],
    ['a frame', { frames: 'first', inputs: { duration: 'duration' } }, { ...UNFRAMED, content: [FRAME] }],
    ['videos', { videos: 1, inputs: { duration: 'duration' } }, { ...UNFRAMED, content: [media('reference_video')] }],
  ])('sends no part of an order that the row has no input for: %s', async (_what, row, changes) => {
    const channel = open({ options: { models: { [VEO]: row } } });

    expect(await channel.submit(planFor(changes), signal)).toMatchObject({
      fault: 'unfit',
      error: expect.stringContaining('has no input for'),
    });
  });

  test.each(['acme/clips', CLIPS])('has a schema of options that takes the row of %s', (model) => {
    const row = { inputs: { prompt: 'text' }, secondsAt: { '1080p': [6] }, extra: ['seed'], always: { audio: true } };
    const isTaken = new Ajv({ strict: true }).compile(replicate.options ?? {});

    expect(isTaken({ models: { [model]: row } })).toBe(true);
    expect(isTaken({ models: { '../../account': row } })).toBe(false);
    expect(isTaken({ models: { [model]: {} } })).toBe(false);
    expect(isTaken({ models: { [model]: { ...row, price: 1 } } })).toBe(false);
  });
});
