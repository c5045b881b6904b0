import { createAlibaba } from '@ai-sdk/alibaba';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { experimental_generateVideo as generateVideo } from 'ai';
import { systemClock } from '@reelgate/platform/clock';
import { Secret } from '@reelgate/platform/secret';
import { anAttempt } from '../../../testing/an-attempt.ts';
import { channelSettings } from '../../../testing/channel-settings.ts';
import {
  DASHSCOPE_VIDEO,
  FAILING_WORDS,
  openFakeDashscope,
  REFUSED_WORDS,
} from '../../../testing/upstreams/dashscope.ts';
import type { FakeDashscope } from '../../../testing/upstreams/dashscope.ts';
import { channelFactory } from '../adapter-channel.ts';
import type { AttemptItem, Channel, ChannelSettings, PlannedAttempt } from '../channel.ts';
import { dashscope } from './dashscope.ts';

const KEY = 'sk-dashscope-0123456789';
const signal = new AbortController().signal;
const image = (role: 'first_frame' | 'last_frame' | 'reference_image'): AttemptItem => ({
  media: 'image',
  role,
  url: 'https://media.example/ximg/a.png',
});
const video: AttemptItem = { media: 'video', role: 'reference_video', url: 'https://media.example/ximg/a.mp4' };
const audio: AttemptItem = { media: 'audio', role: 'reference_audio', url: 'https://media.example/ximg/a.mp3' };
const planFor = (model: string, content: AttemptItem[] = [], order: Partial<PlannedAttempt> = {}): PlannedAttempt =>
  anAttempt({ model, resolution: '720P', ...order, content: [{ text: 'a fox' }, ...content] });
const times = (count: number, item: AttemptItem): AttemptItem[] => Array.from({ length: count }, () => item);

let upstream: FakeDashscope;
let channel: Channel;
const opened: Channel[] = [];

beforeAll(async () => {
  upstream = await openFakeDashscope(KEY);
});
beforeEach(() => {
  open();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});
afterAll(() => upstream.close());

function open(changes: Partial<ChannelSettings> = {}): Channel {
  const settings = channelSettings({ baseUrl: upstream.url, apiKey: new Secret(KEY), ...changes });
  channel = channelFactory(dashscope)(settings, systemClock);
  opened.push(channel);
  return channel;
}

async function submit(attempt: PlannedAttempt): Promise<string> {
  const submission = await channel.submit(attempt, signal);
  if (submission.outcome !== 'accepted') throw new Error(JSON.stringify(submission));
  return submission.upstreamId;
}

/** Polls work until its end. */
async function finish(upstreamId: string): Promise<readonly unknown[]> {
  const polled = [];
  for (let poll = 0; poll < 3; poll += 1) polled.push(await channel.poll(upstreamId, signal));
  return polled;
}

describe("the vendor's client against the fake upstream", () => {
  const fetchBytes = async ({ url }: { readonly url: URL }): Promise<{ data: Uint8Array; mediaType: string }> => ({
    data: new Uint8Array(await (await fetch(url)).arrayBuffer()),
    mediaType: 'video/mp4',
  });
  const generate = (
    model: string,
    order: Partial<Parameters<typeof generateVideo>[0]> = {},
    apiKey = KEY,
  ): ReturnType<typeof generateVideo> =>
    generateVideo({
      model: createAlibaba({ videoBaseURL: upstream.url, apiKey }).video(model),
      prompt: 'a fox',
      duration: 5,
      maxRetries: 0,
      poll: { delay: () => Promise.resolve() },
      download: fetchBytes,
      ...order,
    });

  test.each<[string, Partial<Parameters<typeof generateVideo>[0]>]>([
    ['wan2.7-t2v', { aspectRatio: '16:9', resolution: '1280x720', seed: 7 }],
    ['wan2.6-t2v', { resolution: '1280x720' }],
    ['wan2.6-i2v', { prompt: { text: 'a fox', image: 'https://media.example/a.png' }, resolution: '1280x720' }],
    [
      'wan2.7-r2v',
      { aspectRatio: '1:1', inputReferences: ['https://media.example/a.png', 'https://media.example/a.mp4'] },
    ],
    [
      'wan3.0-video',
      { aspectRatio: '21:9', frameImages: [{ image: 'https://media.example/a.png', frameType: 'first_frame' }] },
    ],
  ])('makes a video of %s', async (model, order) => {
    const made = await generate(model, order);

    expect(Buffer.from(made.video.uint8Array)).toEqual(DASHSCOPE_VIDEO);
    expect(upstream.accepted.at(-1)).toMatchObject({ model, parameters: { duration: 5 } });
  });

  test('is told of a refusal, of a failure and of a wrong key', async () => {
    await expect(generate('wan2.7-t2v', { prompt: REFUSED_WORDS })).rejects.toThrow('inappropriate content');
    await expect(generate('wan2.7-t2v', { prompt: FAILING_WORDS })).rejects.toThrow('failed');
    await expect(generate('wan2.7-t2v', {}, 'sk-other')).rejects.toThrow('Invalid API-key');
  });
});

describe('the adapter', () => {
  test('brings an order from its submission to the video', async () => {
    const polled = await finish(await submit(planFor('wan2.7-t2v')));

    expect(polled).toMatchObject([
      { report: { phase: 'queued' } },
      { report: { phase: 'running' } },
      { report: { phase: 'succeeded', usage: { totalSeconds: 5, outputSeconds: 5 } } },
    ]);
    const { url } = (polled[2] as { report: { url: string } }).report;
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(DASHSCOPE_VIDEO);
  });

  test.each<[string, PlannedAttempt]>([
    ['a text in pixels', planFor('wan2.5-t2v-preview', [], { resolution: '480P' })],
    ['a text', planFor('happyhorse-1.1-t2v', [], { resolution: '480P', ratio: '3:4' })],
    ['a frame in the old field', planFor('wan2.6-i2v-flash', [image('first_frame')])],
    ['a frame', planFor('happyhorse-1.0-i2v', [image('first_frame')], { ratio: 'adaptive' })],
    ['two frames', planFor('wan2.7-i2v', [image('first_frame'), image('last_frame')])],
    ['references in the old field', planFor('wan2.6-r2v', [video, image('reference_image')])],
    ['references and a frame', planFor('wan2.7-r2v', [video, image('reference_image'), image('first_frame')])],
    ['nine references', planFor('happyhorse-1.1-r2v', times(9, image('reference_image')))],
    [
      'references of all kinds',
      planFor('wan3.0-video', [image('reference_image'), video, audio], { ratio: 'adaptive' }),
    ],
    ['extra fields', planFor('wan2.7-t2v', [], { extraJson: '{"seed": 7, "negative_prompt": "blur"}' })],
  ])('sends %s as the API takes it', async (_what, attempt) => {
    expect((await finish(await submit(attempt)))[2]).toMatchObject({ report: { phase: 'succeeded' } });
  });

  test('goes on with a task that was unknown for one read', async () => {
    const id = await submit(planFor('wan2.7-t2v'));
    upstream.hideOnce(id);

    expect(await channel.poll(id, signal)).toMatchObject({ found: false, gone: true });
    expect((await finish(id))[2]).toMatchObject({ report: { phase: 'succeeded' } });
    expect(await channel.poll('0385dc79-unknown', signal)).toMatchObject({ found: false, gone: true });
  });

  test('cancels a pending task, and no other', async () => {
    const [pending, running] = [await submit(planFor('wan2.7-t2v')), await submit(planFor('wan2.7-t2v'))];
    await channel.poll(running, signal);

    expect(await channel.cancel(pending, signal)).toBe(true);
    expect(await channel.cancel(running, signal)).toBe(false);
    expect(await channel.cancel('unknown', signal)).toBe(false);
    expect(await channel.poll(pending, signal)).toMatchObject({
      report: { phase: 'failed', failure: { code: 'cancelled' } },
    });
  });

  test('understands refusals and failures', async () => {
    const refused = planFor('wan2.7-t2v', [{ text: REFUSED_WORDS }]);
    expect(await channel.submit(refused, signal)).toMatchObject({ outcome: 'refused', fault: 'content', status: 400 });
    const failing = await submit(planFor('wan2.7-t2v', [{ text: FAILING_WORDS }]));
    expect((await finish(failing))[2]).toMatchObject({
      report: { phase: 'failed', failure: { code: 'content_rejected' } },
    });
    upstream.throttleNext();
    expect(await channel.submit(planFor('wan2.7-t2v'), signal)).toMatchObject({ fault: 'throttle', status: 429 });
  });

  test('tests the key without cost', async () => {
    expect(await channel.test(signal)).toMatchObject({ ok: true });

    open({ apiKey: new Secret('sk-other') });
    expect(await channel.test(signal)).toEqual({ ok: false, detail: 'Invalid API-key provided.' });
    expect(await channel.submit(planFor('wan2.7-t2v'), signal)).toMatchObject({ fault: 'credential', status: 401 });
  });

  test('cannot search for a lost answer', async () => {
    expect([channel.canFind, await channel.list(0, signal)]).toEqual([false, undefined]);
  });

  test.each<[string, PlannedAttempt]>([
    ['an unknown model', planFor('wan9')],
    ["a model with the name of an object's built-in property", planFor('toString')],
    ['a text for a model of frames', planFor('wan2.7-i2v')],
    ['a text for a model of references', planFor('happyhorse-1.1-r2v')],
    ['a frame for a model of texts', planFor('wan2.7-t2v', [image('first_frame')])],
    ['a reference for a model of frames', planFor('wan2.7-i2v', [image('first_frame'), image('reference_image')])],
    ['a last frame for an older model', planFor('wan2.6-i2v', [image('first_frame'), image('last_frame')])],
    ['a frame and a reference for the model of all modes', planFor('wan3.0-video', [image('first_frame'), video])],
    ['an audio before version 3.0', planFor('wan2.7-r2v', [image('reference_image'), audio])],
    ['six references of two kinds', planFor('wan2.7-r2v', [...times(3, image('reference_image')), ...times(3, video)])],
    ['a video inside the request', planFor('wan2.7-r2v', [{ ...video, url: 'data:video/mp4;base64,AAAA' }])],
    ['a shape without pixels', planFor('wan2.5-t2v-preview', [], { resolution: '480P', ratio: '4:3' })],
    ['a ratio that the model does not have', planFor('wan2.7-t2v', [], { ratio: '21:9' })],
    ['a resolution that the model does not have', planFor('wan2.7-t2v', [], { resolution: '480P' })],
    ['a length that the model does not have', planFor('wan2.5-t2v-preview', [], { duration: 7 })],
    ['a text that would be cut', planFor('wan2.7-t2v', [{ text: 'x'.repeat(5000) }])],
    ['a text that an older model would cut', planFor('wan2.6-t2v', [{ text: 'x'.repeat(1500) }])],
    ['a snapshot of an unknown model', planFor('wan9-t2v-2026-06-12')],
  ])('refuses %s without a call', async (_what, attempt) => {
    const before = upstream.accepted.length;

    expect(await channel.submit(attempt, signal)).toMatchObject({ outcome: 'refused', fault: 'unfit' });
    expect(upstream.accepted).toHaveLength(before);
  });

  test('serves a model that the configuration adds', async () => {
    open({ options: { models: { 'wan9-t2v': { size: 'pixels', seconds: [5] } } } });

    // The fake does not know the model, so the order reaches it and is refused there.
    expect(await channel.submit(planFor('wan9-t2v'), signal)).toMatchObject({ fault: 'channel', status: 404 });
    expect(await channel.submit(planFor('wan9-t2v', [], { duration: 6 }), signal)).toMatchObject({ fault: 'unfit' });
  });
});
