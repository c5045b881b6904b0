import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { Secret } from '@reelgate/platform/secret';
import OpenAI, { toFile } from 'openai';
import { anAttempt } from '../../../testing/an-attempt.ts';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { FAILING_WORD, openFakeSglang, SGLANG_MODEL, SGLANG_VIDEO } from '../../../testing/upstreams/sglang.ts';
import type { FakeSglang } from '../../../testing/upstreams/sglang.ts';
import {
  FAILS_WITH,
  openFakeVllmOmni,
  VLLM_KEY,
  VLLM_MODEL,
  VLLM_VIDEO,
} from '../../../testing/upstreams/vllm-omni.ts';
import type { FakeVllmOmni } from '../../../testing/upstreams/vllm-omni.ts';
import { channelFactory } from '../adapter-channel.ts';
import type { AttemptItem, Channel, ChannelSettings, PlannedAttempt, PollResult } from '../channel.ts';
import { openaiVideos } from './openai-videos.ts';

const signal = new AbortController().signal;
const FRAME: AttemptItem = { media: 'image', role: 'first_frame', url: 'https://media.example/a.png' };
const FILE: AttemptItem = { ...FRAME, url: 'data:image/png;base64,iVBORw0KGgo=' };
const opened: Channel[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((channel) => channel.close()));
});

function openAt(fake: { readonly url: string }, changes: Partial<ChannelSettings>): Channel {
  const channel = channelFactory(openaiVideos)(channelSettings({ baseUrl: fake.url, ...changes }), systemClock);
  opened.push(channel);
  return channel;
}

const openClient = ({ url }: { readonly url: string }, apiKey: string): OpenAI =>
  new OpenAI({ apiKey, baseURL: `${url}/v1`, maxRetries: 0 });

async function submitAccepted(channel: Channel, attempt: PlannedAttempt): Promise<string> {
  const submission = await channel.submit(attempt, signal);
  if (submission.outcome !== 'accepted') throw new Error(JSON.stringify(submission));
  return submission.upstreamId;
}

async function pollThrice(channel: Channel, id: string): Promise<readonly PollResult[]> {
  const polls = [];
  for (let poll = 0; poll < 3; poll += 1) polls.push(await channel.poll(id, signal));
  return polls;
}

async function readResult(polled: PollResult | undefined): Promise<string> {
  if (polled?.found !== true || polled.report.phase !== 'succeeded') throw new Error(JSON.stringify(polled));
  const { url = '', credential } = polled.report;
  const headers = credential === undefined ? {} : { [credential.header]: credential.value.reveal() };
  return (await fetch(url, { headers })).text();
}

describe('vLLM-Omni', () => {
  let fake: FakeVllmOmni;
  beforeAll(async () => {
    fake = await openFakeVllmOmni();
  });
  afterAll(() => fake.stop());

  const open = (changes: Partial<ChannelSettings> = {}): Channel =>
    openAt(fake, { apiKey: new Secret(VLLM_KEY), options: { body: 'form', cancel: 'delete' }, ...changes });
  const planFor = (changes: Partial<PlannedAttempt> = {}): PlannedAttempt =>
    anAttempt({ model: VLLM_MODEL, resolution: '720P', ...changes });
  const order = { model: VLLM_MODEL as OpenAI.VideoModel, prompt: 'a fox', seconds: '8', size: '1280x720' } as const;

  test('serves the OpenAI client', async () => {
    const { videos } = openClient(fake, VLLM_KEY);
    const frame = await toFile(Buffer.from('the bytes'), 'first.png', { type: 'image/png' });
    const { id } = await videos.create({ ...order, input_reference: frame });
    await videos.retrieve(id);

    await expect(videos.downloadContent(id)).rejects.toThrow(/404 Generation is still in-progress/);
    expect(await videos.retrieve(id)).toMatchObject({ status: 'in_progress' });
    expect(await videos.retrieve(id)).toMatchObject({ status: 'completed', seconds: '8', size: '1280x720' });
    expect(await (await videos.downloadContent(id)).text()).toBe(VLLM_VIDEO);
    expect((await videos.list({ limit: 1 })).data).toMatchObject([{ id }]);
    expect(await videos.delete(id)).toMatchObject({ id, deleted: true });
    await expect(videos.retrieve(id)).rejects.toThrow(/404 Video not found/);
  });

  test('shows the OpenAI client a failure as an error', async () => {
    const { videos } = openClient(fake, VLLM_KEY);
    const { id } = await videos.create({ ...order, prompt: `a fox ${FAILS_WITH}500` });
    await videos.retrieve(id);
    await videos.retrieve(id);

    await expect(videos.retrieve(id)).rejects.toThrow(/500 out of memory/);
    await expect(openClient(fake, 'another').videos.create(order)).rejects.toThrow(/401/);
  });

  test.each<[string, AttemptItem[], object]>([
    ['a text', [], {}],
    ['a frame by its address', [FRAME], { image_reference: `{"image_url":"${FRAME.url}"}` }],
    ['a frame as a file', [FILE], { input_reference: expect.any(File) }],
  ])('makes a video of %s', async (_what, media, fields) => {
    const channel = open();
    const id = await submitAccepted(
      channel,
      planFor({ content: [{ text: 'a fox' }, ...media], extraJson: '{"seed":7}' }),
    );
    const polls = await pollThrice(channel, id);

    expect(fake.orders.at(-1)).toEqual({
      model: VLLM_MODEL,
      prompt: 'a fox',
      seconds: '5',
      size: '1280x720',
      seed: '7',
      ...fields,
    });
    expect(polls).toMatchObject([
      { report: { phase: 'queued' } },
      { report: { phase: 'running', progress: 0 } },
      { report: { phase: 'succeeded', endedAt: expect.any(Number) } },
    ]);
    expect(await readResult(polls[2])).toBe(VLLM_VIDEO);
  });

  test.each([500, 400, 404, 429])('reports work that failed with %d, and not that it is gone', async (status) => {
    const channel = open();
    const id = await submitAccepted(channel, planFor({ content: [{ text: `a fox ${FAILS_WITH}${status}` }] }));

    expect((await pollThrice(channel, id))[2]).toMatchObject({
      report: { phase: 'failed', failure: { code: String(status), message: 'out of memory' } },
    });
  });

  test.each<[string, PlannedAttempt, Partial<ChannelSettings>, string]>([
    ['JSON', planFor(), { options: {} }, 'order'],
    ['a length', planFor({ duration: 0 }), {}, 'order'],
    ['another model than its own', planFor({ model: 'up-1' }), {}, 'channel'],
    ['a key', planFor(), { apiKey: new Secret('another') }, 'credential'],
  ])('refuses %s', async (_what, attempt, settings, fault) => {
    expect(await open(settings).submit(attempt, signal)).toMatchObject({ outcome: 'refused', fault });
  });

  test('stops unfinished work, and keeps the video of finished work', async () => {
    const channel = open();
    const running = await submitAccepted(channel, planFor());
    const finished = await submitAccepted(channel, planFor());
    await pollThrice(channel, finished);

    expect(await channel.cancel(running, signal)).toBe(true);
    expect(await channel.poll(running, signal)).toMatchObject({ found: false, gone: true });
    expect(await channel.cancel(finished, signal)).toBe(false);
    expect(await channel.cancel('video_gen_ffff', signal)).toBe(false);
    expect(fake.stopped).toEqual([running]);
    expect(fake.removed).not.toContain(finished);
  });

  test('lists its work with the frame of each order, and names its models', async () => {
    const channel = open();
    const id = await submitAccepted(channel, planFor({ ratio: '9:16' }));

    expect((await channel.list(0, signal))?.[0]).toMatchObject({
      upstreamId: id,
      model: VLLM_MODEL,
      duration: 5,
      resolution: '720P',
      ratio: '9:16',
    });
    expect(await channel.test(signal)).toMatchObject({ ok: true });
  });
});

describe('SGLang-Diffusion', () => {
  let fake: FakeSglang;
  let cloud: FakeSglang;
  beforeAll(async () => {
    fake = await openFakeSglang();
    cloud = await openFakeSglang({ cloud: true });
  });
  afterAll(async () => {
    await Promise.all([fake.stop(), cloud.stop()]);
  });

  const open = (changes: Partial<ChannelSettings> = {}): Channel =>
    openAt(fake, { options: { reference: 'reference_url' }, ...changes });
  const planFor = (changes: Partial<PlannedAttempt> = {}): PlannedAttempt =>
    anAttempt({ model: SGLANG_MODEL, resolution: '720P', ...changes });
  const order = { model: SGLANG_MODEL as OpenAI.VideoModel, prompt: 'a fox', seconds: '8', size: '1280x720' } as const;

  test('serves the OpenAI client', async () => {
    const { videos } = openClient(fake, 'any');
    const frame = await toFile(Buffer.from('the bytes'), 'first.png', { type: 'image/png' });
    const { id } = await videos.create({ ...order, input_reference: frame });
    await videos.retrieve(id);
    await videos.retrieve(id);

    expect(await videos.retrieve(id)).toMatchObject({ status: 'completed', seconds: '8', size: '1280x720' });
    expect(await (await videos.downloadContent(id)).text()).toBe(SGLANG_VIDEO);
    expect((await videos.list({ limit: 1 })).data).toMatchObject([{ id }]);
    expect(await videos.delete(id)).toMatchObject({ id, status: 'deleted' });
    await expect(videos.retrieve(id)).rejects.toThrow(/404/);
    await expect(videos.list({ limit: 0 })).rejects.toThrow(/422/);
  });

  test.each<[string, object, AttemptItem[], object]>([
    ['a text', {}, [], {}],
    ['a text in a form', { body: 'form' }, [], {}],
    ['a frame by its address', {}, [FRAME], { reference_url: FRAME.url }],
    ['a frame by its address in a form', { body: 'form' }, [FRAME], { reference_url: FRAME.url }],
    ['a frame as a file', {}, [FILE], { input_reference: expect.any(File) }],
  ])('makes a video of %s', async (_what, options, media, fields) => {
    const channel = open({ options: { reference: 'reference_url', ...options } });
    const id = await submitAccepted(channel, planFor({ content: [{ text: 'a fox' }, ...media] }));
    const polls = await pollThrice(channel, id);

    expect(fake.orders.at(-1)).toEqual({
      model: SGLANG_MODEL,
      prompt: 'a fox',
      seconds: '5',
      size: '1280x720',
      ...fields,
    });
    expect(polls).toMatchObject([
      { report: { phase: 'queued' } },
      { report: { phase: 'running', progress: 50 } },
      { report: { phase: 'succeeded', url: `${fake.url}/v1/videos/${id}/content` } },
    ]);
    expect(await readResult(polls[2])).toBe(SGLANG_VIDEO);
  });

  test('names the result in cloud storage, which its own route refuses, and needs no key there', async () => {
    const channel = openAt(cloud, {});
    const id = await submitAccepted(channel, planFor());
    const polled = (await pollThrice(channel, id))[2];

    expect(polled).toMatchObject({ report: { url: `${cloud.url}/bucket/${id}.mp4` } });
    expect(polled).not.toHaveProperty('report.credential');
    expect(await readResult(polled)).toBe(SGLANG_VIDEO);
    expect((await fetch(`${cloud.url}/v1/videos/${id}/content`)).status).toBe(400);
  });

  test('reports a failure without a code', async () => {
    const channel = open();
    const id = await submitAccepted(channel, planFor({ content: [{ text: `an ${FAILING_WORD} fox` }] }));

    expect((await pollThrice(channel, id))[2]).toMatchObject({
      report: { phase: 'failed', failure: { code: 'failed', message: 'CUDA out of memory' } },
    });
  });

  test('refuses a reference as an object, and the reason reaches the operator', async () => {
    const attempt = planFor({ content: [{ text: 'a fox' }, FRAME] });

    expect(await open({ options: {} }).submit(attempt, signal)).toMatchObject({
      outcome: 'refused',
      fault: 'order',
      error: expect.stringContaining('Invalid request body'),
    });
  });

  test('does not stop work, so no cancel is confirmed and the work goes on', async () => {
    const channel = open();
    const id = await submitAccepted(channel, planFor());

    expect(await channel.cancel(id, signal)).toBe(false);
    expect(await readResult((await pollThrice(channel, id))[2])).toBe(SGLANG_VIDEO);
    expect(await channel.poll('job-9999', signal)).toMatchObject({ found: false, gone: true });
  });

  test('lists its work over more than one page, and names its models', async () => {
    const channel = open();
    const attempts = Array.from({ length: 101 }, () => planFor());
    const ids: string[] = [];
    for (const attempt of attempts) ids.push(await submitAccepted(channel, attempt));
    const works = await channel.list(0, signal);

    expect(works?.slice(0, ids.length).map(({ upstreamId }) => upstreamId)).toEqual(ids.toReversed());
    expect(works?.[0]).toMatchObject({ model: SGLANG_MODEL, duration: 5, resolution: '720P', ratio: '16:9' });
    expect(await channel.test(signal)).toMatchObject({ ok: true });
  });
});
