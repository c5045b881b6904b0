import { ApiError, createFalClient, ValidationError } from '@fal-ai/client';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { systemClock } from '@reelgate/platform/clock';
import { Secret } from '@reelgate/platform/secret';
import { hashKey } from '@reelgate/adapter-kit/kit';
import { anAttempt } from '../../../testing/an-attempt.ts';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { FAL_KEY, FAL_VIDEO, openFakeFal, REFUSED_WORD } from '../../../testing/upstreams/fal.ts';
import type { FakeFal } from '../../../testing/upstreams/fal.ts';
import { channelFactory } from '../adapter-channel.ts';
import type { AttemptItem, Channel, ChannelSettings, PlannedAttempt } from '../channel.ts';
import { fal } from './fal.ts';

const signal = new AbortController().signal;
const VEO = 'fal-ai/veo3.1';
const KLING = 'fal-ai/kling-video/v3/pro';
const WEBHOOK = 'https://gateway.example/callbacks/a.b';
const FRAME: AttemptItem = { media: 'image', role: 'first_frame', url: 'https://media.example/a.png' };
const LAST: AttemptItem = { ...FRAME, role: 'last_frame' };
const REFERENCE: AttemptItem = { ...FRAME, role: 'reference_image' };

let fake: FakeFal;
const opened: Channel[] = [];

beforeAll(async () => {
  fake = await openFakeFal();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((channel) => channel.close()));
});
afterAll(() => fake.stop());

function open(changes: Partial<ChannelSettings> = {}): Channel {
  const channel = channelFactory(fal)(
    channelSettings({ baseUrl: fake.url, hosts: { platform: fake.url }, apiKey: new Secret(FAL_KEY), ...changes }),
    systemClock,
  );
  opened.push(channel);
  return channel;
}

const planFor = (changes: Partial<PlannedAttempt> = {}): PlannedAttempt =>
  anAttempt({ model: VEO, resolution: '720P', duration: 8, ...changes });

/** Submits an order that the fake takes. */
async function accept(channel: Channel, attempt: PlannedAttempt): Promise<string> {
  const submission = await channel.submit(attempt, signal);
  expect(submission).toMatchObject({ outcome: 'accepted' });
  return submission.outcome === 'accepted' ? submission.upstreamId : '';
}

describe('the client of the vendor', () => {
  const openClient = (credentials = FAL_KEY) =>
    createFalClient({
      credentials,
      // The client knows one address of the queue.
      fetch: (input, init) => fetch((input as string).replace('https://queue.fal.run', fake.url), init),
    }).queue;
  const endpoint = 'fal-ai/veo3.1/image-to-video';
  const input = { prompt: 'a fox', image_url: 'https://media.example/a.png', duration: '8s' } as const;

  test('makes a video at the fake', async () => {
    const queue = openClient();
    const { request_id: requestId } = await queue.submit(endpoint, { input, webhookUrl: WEBHOOK });
    const seen = [];
    for (let poll = 0; poll < 3; poll += 1) seen.push((await queue.status(endpoint, { requestId })).status);

    expect(fake.orders.at(-1)).toMatchObject({ endpoint, input, webhook: WEBHOOK });
    expect(seen).toEqual(['IN_QUEUE', 'IN_PROGRESS', 'COMPLETED']);
    expect((await queue.result(endpoint, { requestId })).data.video.url).toContain(fake.url);
    await expect(queue.cancel(endpoint, { requestId })).rejects.toThrow(ApiError);
  });

  test('cancels a request at the fake', async () => {
    const queue = openClient();
    const { request_id: requestId } = await queue.submit(endpoint, { input });

    await queue.cancel(endpoint, { requestId });

    expect(await queue.status(endpoint, { requestId })).toMatchObject({ error_type: 'client_cancelled' });
  });

  test('understands refusals of the fake', async () => {
    const queue = openClient();
    const refused = { ...input, prompt: `a ${REFUSED_WORD} fox` };
    const { request_id: requestId } = await queue.submit(endpoint, { input: refused });
    for (let poll = 0; poll < 3; poll += 1) await queue.status(endpoint, { requestId });

    await expect(queue.result(endpoint, { requestId })).rejects.toThrow(ValidationError);
    await expect(openClient('another').submit(endpoint, { input })).rejects.toMatchObject({ status: 401 });
    await expect(queue.submit('fal-ai/none', { input })).rejects.toMatchObject({ status: 404 });
  });
});

describe('the adapter at the fake', () => {
  test.each<[string, PlannedAttempt, string]>([
    ['text', planFor({ callbackUrl: WEBHOOK }), VEO],
    ['a first frame', planFor({ content: [{ text: 'a fox' }, FRAME], ratio: 'adaptive' }), `${VEO}/image-to-video`],
    [
      'both frames',
      planFor({ content: [{ text: 'a fox' }, FRAME, LAST], resolution: '4K' }),
      `${VEO}/first-last-frame-to-video`,
    ],
    ['references', planFor({ content: [{ text: 'a fox' }, REFERENCE] }), `${VEO}/reference-to-video`],
    ['text for Kling', planFor({ model: KLING, extraJson: '{"cfg_scale":0.5}' }), `${KLING}/text-to-video`],
    [
      'frames for Kling',
      planFor({ model: KLING, content: [{ text: 'a fox' }, FRAME, LAST] }),
      `${KLING}/image-to-video`,
    ],
  ])('makes a video of %s', async (_what, attempt, endpoint) => {
    const channel = open();
    const upstreamId = await accept(channel, attempt);
    const polls = [];
    for (let poll = 0; poll < 3; poll += 1) polls.push(await channel.poll(upstreamId, signal));

    expect(fake.orders.at(-1)).toMatchObject({ endpoint, isTriedOnce: true });
    expect(fake.orders.at(-1)?.webhook).toBe(attempt.callbackUrl);
    expect(polls).toMatchObject([
      { report: { phase: 'queued' } },
      { report: { phase: 'running' } },
      { report: { phase: 'succeeded' } },
    ]);
    const { report } = polls[2] as { report: { url: string } };
    expect(await (await fetch(report.url)).text()).toBe(FAL_VIDEO);
  });

  test('learns of refusals at the submission and, for the content, at the end', async () => {
    const channel = open({ options: { models: { 'fal-ai/none': { text: { path: '', fields: {} } } } } });
    const upstreamId = await accept(channel, planFor({ content: [{ text: `a ${REFUSED_WORD} fox` }] }));
    await channel.poll(upstreamId, signal);
    await channel.poll(upstreamId, signal);

    expect(await channel.poll(upstreamId, signal)).toMatchObject({
      report: { phase: 'failed', failure: { code: 'content_rejected' } },
    });
    expect(await channel.submit(planFor({ model: 'fal-ai/none' }), signal)).toMatchObject({ fault: 'channel' });
    expect(await open({ apiKey: new Secret('another') }).submit(planFor(), signal)).toMatchObject({
      fault: 'credential',
    });
  });

  test('sends a wrong input that an operator described, and learns at the end', async () => {
    const text = { path: '', fields: { duration: 'duration' }, durationAs: 'number', fixed: { fps: 24 } };
    const channel = open({ options: { models: { [VEO]: { text } } } });
    const upstreamId = await accept(channel, planFor());
    await channel.poll(upstreamId, signal);
    await channel.poll(upstreamId, signal);

    expect(fake.orders.at(-1)?.input).toEqual({ prompt: 'a fox', duration: 8, fps: 24 });
    expect(await channel.poll(upstreamId, signal)).toMatchObject({ report: { failure: { code: 'value_error' } } });
  });

  test('cancels what waits, and nothing else', async () => {
    const channel = open();
    const waiting = await accept(channel, planFor());
    const running = await accept(channel, planFor());
    await channel.poll(running, signal);
    await channel.poll(running, signal);

    expect(await channel.cancel(waiting, signal)).toBe(true);
    expect(await channel.poll(waiting, signal)).toMatchObject({ report: { failure: { code: 'client_cancelled' } } });
    expect(await channel.cancel(running, signal)).toBe(false);
    expect(await channel.cancel(`${VEO}/none`, signal)).toBe(false);
  });

  test('finds no work under an unknown id', async () => {
    const channel = open();
    const upstreamId = await accept(channel, planFor());

    expect(await channel.poll(`${VEO}/none`, signal)).toMatchObject({ found: false, gone: true });
    expect(await channel.poll(upstreamId.replace(VEO, 'fal-ai/wan'), signal)).toMatchObject({ gone: true });
    expect(await channel.test(signal)).toMatchObject({ ok: true });
    expect(await open({ apiKey: new Secret('another') }).test(signal)).toMatchObject({ ok: false });
  });

  test('finds the work of a lost answer among others like it', async () => {
    const channel = open();
    const since = { model: VEO, startedAt: Date.now(), endedAt: Date.now() };
    await accept(channel, planFor({ key: 'task_8-1' }));
    fake.loseNextAnswer();
    expect(await channel.submit(planFor({ key: 'task_9-1' }), signal)).toMatchObject({ outcome: 'unknown' });
    await accept(channel, planFor({ key: 'task_9-2' }));

    const found = await channel.find({ key: 'task_9-1', ...since }, signal);

    expect(found).toMatchObject({ outcome: 'accepted' });
    const { upstreamId } = found as { upstreamId: string };
    expect(await channel.poll(upstreamId, signal)).toMatchObject({ report: { phase: 'queued' } });
    expect(fake.orders.at(-2)?.input['seed']).toBe(hashKey('task_9-1'));
    expect(await channel.find({ key: 'task_7-1', ...since }, signal)).toMatchObject({ outcome: 'cannot know' });
  });

  test.each<[string, Partial<PlannedAttempt>]>([
    ['an unknown model', { model: 'fal-ai/none' }],
    ["a model with the name of an object's built-in property", { model: 'toString' }],
    ['5 seconds of Veo', { duration: 5 }],
    ['4K by text', { resolution: '4K' }],
    ['a ratio', { ratio: '21:9' }],
    ['references of Kling', { model: KLING, content: [REFERENCE] }],
    ['4 references', { content: [REFERENCE, REFERENCE, REFERENCE, REFERENCE] }],
    ['a frame with references', { content: [FRAME, REFERENCE] }],
    ['a last frame alone', { content: [LAST] }],
    [
      'a reference video',
      { content: [{ media: 'video', role: 'reference_video', url: 'https://media.example/a.mp4' }] },
    ],
  ])('sends no order of %s', async (_what, changes) => {
    const orders = fake.orders.length;

    expect(await open().submit(planFor(changes), signal)).toMatchObject({ outcome: 'refused', fault: 'unfit' });
    expect(fake.orders).toHaveLength(orders);
  });

  test('sends no media that the row of an operator has no field for', async () => {
    const frame = { path: '', frames: 'first', fields: { duration: 'duration' } };

    expect(
      await open({ options: { models: { [VEO]: { frame } } } }).submit(planFor({ content: [FRAME] }), signal),
    ).toMatchObject({ fault: 'unfit', error: expect.stringContaining('no input for first') });
  });
});

test('each key has one seed, which every model takes', () => {
  fc.assert(
    fc.property(fc.string(), (key) => {
      expect(hashKey(key)).toBe(hashKey(key));
      expect(hashKey(key)).toBeGreaterThanOrEqual(0);
      expect(hashKey(key)).toBeLessThan(2 ** 31);
    }),
  );
});

test('a callback names the work of a known model', () => {
  const body = { request_id: 'q1', gateway_request_id: 'q2', status: 'OK', payload: {}, error: null };

  expect(fal.callbacks?.readId(body, KLING)).toBe('fal-ai/kling-video/q1');
  expect(fal.callbacks?.readId(body)).toBeUndefined();
  expect(fal.callbacks?.readId({}, KLING)).toBeUndefined();
});
