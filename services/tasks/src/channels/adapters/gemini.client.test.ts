import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createGoogle } from '@ai-sdk/google';
import { GoogleGenAI } from '@google/genai';
import { systemClock } from '@reelgate/platform/clock';
import { Secret } from '@reelgate/platform/secret';
import { anAttempt } from '../../../testing/an-attempt.ts';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { GEMINI_VIDEO, openFakeGemini, UNSAFE_PROMPT, UNSAFE_VIDEO_PROMPT } from '../../../testing/upstreams/gemini.ts';
import type { FakeGemini } from '../../../testing/upstreams/gemini.ts';
import { channelFactory } from '../adapter-channel.ts';
import type { AttemptItem, Channel, PlannedAttempt, PollResult } from '../channel.ts';
import { gemini } from './gemini.ts';

const KEY = 'goog-0123456789';
const OMNI = 'gemini-omni-1.1-flash';
const VEO = 'veo-3.1-generate-preview';
const PNG = 'iVBORw0KGgo=';
const FRAME: AttemptItem = { media: 'image', role: 'first_frame', url: `data:image/png;base64,${PNG}` };
const signal = new AbortController().signal;

let upstream: FakeGemini;
const opened: Channel[] = [];

beforeEach(async () => {
  upstream = await openFakeGemini(KEY);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((channel) => channel.close()));
  await upstream.close();
});

function open(apiKey = KEY, options = {}): Channel {
  const settings = channelSettings({ adapter: 'gemini', baseUrl: upstream.url, apiKey: new Secret(apiKey), options });
  const channel = channelFactory(gemini)(settings, systemClock);
  opened.push(channel);
  return channel;
}

const planFor = (model: string, order: Partial<PlannedAttempt> = {}): PlannedAttempt =>
  anAttempt({ model, resolution: '720P', duration: model === OMNI ? 5 : 8, ...order });

async function submit(channel: Channel, plan: PlannedAttempt): Promise<string> {
  const submission = await channel.submit(plan, signal);
  if (submission.outcome !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(submission)}`);
  return submission.upstreamId;
}

/** Polls until the work has ended, and returns the phases and the last report. */
async function pollToEnd(channel: Channel, id: string): Promise<{ phases: string[]; last: PollResult }> {
  const phases: string[] = [];
  for (;;) {
    const last = await channel.poll(id, signal);
    phases.push(last.found ? last.report.phase : last.error);
    if (phases.at(-1) !== 'queued' && phases.at(-1) !== 'running') return { phases, last };
  }
}

/** Downloads a result as media does: with the credential, which a redirect does not get. */
async function download({ last }: { last: PollResult }): Promise<string> {
  if (!last.found || last.report.phase !== 'succeeded') throw new Error('no result');
  const { url = '', credential } = last.report;
  const headers: Record<string, string> =
    credential === undefined ? {} : { [credential.header]: credential.value.reveal() };
  const { status, headers: answered } = await fetch(url, { headers, redirect: 'manual' });
  return status === 302 ? (await fetch(answered.get('location') ?? '')).text() : `HTTP ${status}`;
}

describe('the clients of Google take the fake for the API', () => {
  test('@google/genai: an interaction from its creation to its end', async () => {
    const { interactions } = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: upstream.url } });
    const created = await interactions.create({
      model: OMNI,
      background: true,
      input: [
        {
          type: 'user_input',
          content: [
            { type: 'image', data: PNG, mime_type: 'image/png' },
            { type: 'text', text: 'a fox' },
          ],
        },
      ],
      response_format: { type: 'video', delivery: 'uri', aspect_ratio: '16:9', resolution: '720p', duration: '5s' },
      generation_config: { video_config: { task: 'image_to_video' } },
    });
    const seen = [await interactions.get(created.id), await interactions.get(created.id)];
    const ended = await interactions.get(created.id);

    expect([created, ...seen, ended].map(({ status }) => status)).toEqual([
      'in_progress',
      'queued',
      'in_progress',
      'completed',
    ]);
    expect(ended.output_video).toMatchObject({ type: 'video', uri: expect.stringContaining('/v1beta/files/') });
  });

  test('@google/genai: an interaction that is cancelled', async () => {
    const { interactions } = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: upstream.url } });
    const { id } = await interactions.create({
      model: OMNI,
      background: true,
      input: [{ type: 'text', text: 'a fox' }],
      response_format: { type: 'video', delivery: 'uri' },
    });

    expect(await interactions.cancel(id)).toMatchObject({ id, status: 'cancelled' });
  });

  test('@google/genai: an interaction that holds the bytes of its video', async () => {
    const { interactions } = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: upstream.url } });
    const { id } = await interactions.create({
      model: OMNI,
      background: true,
      input: [{ type: 'text', text: 'a fox' }],
      response_format: { type: 'video', delivery: 'inline' },
    });
    await interactions.get(id);
    await interactions.get(id);
    const { output_video: video } = await interactions.get(id);

    expect(video?.uri).toBeUndefined();
    expect(Buffer.from(video?.data ?? '', 'base64').toString()).toBe(GEMINI_VIDEO);
  });

  test('@ai-sdk/google: an interaction that holds the bytes of its video', async () => {
    const model = createGoogle({ apiKey: KEY, baseURL: `${upstream.url}/v1beta` }).interactions(OMNI);

    const { content } = await model.doGenerate({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'a fox' }] }],
      providerOptions: { google: { responseFormat: [{ type: 'video', delivery: 'inline' }] } },
    });

    const data = Buffer.from(GEMINI_VIDEO).toString('base64');
    expect(content).toMatchObject([{ type: 'file', mediaType: 'video/mp4', data: { type: 'data', data } }]);
  });

  test('@ai-sdk/google: an interaction whose answer comes with the video', async () => {
    const model = createGoogle({ apiKey: KEY, baseURL: `${upstream.url}/v1beta` }).interactions(OMNI);

    const { content } = await model.doGenerate({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'a fox' }] }],
      providerOptions: { google: { responseFormat: [{ type: 'video', delivery: 'uri', duration: '5s' }] } },
    });

    expect(content).toMatchObject([{ type: 'file', mediaType: 'video/mp4' }]);
  });

  test('@ai-sdk/google: an operation from its start to its video', async () => {
    const model = createGoogle({ apiKey: KEY, baseURL: `${upstream.url}/v1beta` }).video(VEO);
    const call = {
      prompt: 'a fox',
      n: 1,
      aspectRatio: '16:9',
      resolution: '1280x720',
      duration: 8,
      fps: undefined,
      seed: 7,
      image: { type: 'file', mediaType: 'image/png', data: PNG },
      providerOptions: {},
    } as const;
    const { operation } = await model.doStart!(call as never);
    const running = await model.doStatus!({ operation });
    const ended = await model.doStatus!({ operation });

    expect([running, ended]).toMatchObject([{ status: 'pending' }, { status: 'completed' }]);
    const [video] = (ended as { videos: { url: string }[] }).videos;
    expect(await (await fetch(video!.url)).text()).toBe(GEMINI_VIDEO);
  });
});

describe.each([
  [OMNI, ['queued', 'running', 'succeeded'], [FRAME]],
  [VEO, ['running', 'succeeded'], [FRAME, { ...FRAME, role: 'last_frame' }]],
])('an order for %s', (model, phases, media) => {
  test('goes from its submission to its video, which needs the key', async () => {
    const channel = open();
    const id = await submit(channel, planFor(model, { content: [{ text: 'a fox' }, ...(media as AttemptItem[])] }));
    const ended = await pollToEnd(channel, id);

    expect(ended.phases).toEqual(phases);
    expect(await download(ended)).toBe(GEMINI_VIDEO);
    const { status } = await fetch((ended.last as { report: { url: string } }).report.url, { redirect: 'manual' });
    expect(status).toBe(403);
  });

  test('fails if the upstream refuses what it made', async () => {
    const channel = open();
    const id = await submit(channel, planFor(model, { content: [{ text: UNSAFE_VIDEO_PROMPT }] }));

    expect((await pollToEnd(channel, id)).last).toMatchObject({
      report: { phase: 'failed', failure: { code: 'content_rejected' } },
    });
  });

  test('is the fault of the credential with a wrong key', async () => {
    expect(await open('another-key').submit(planFor(model), signal)).toMatchObject({
      outcome: 'refused',
      fault: 'credential',
    });
  });
});

test.each([
  ['a short text', 1024],
  ['a text that is cut', 9 * 1024 * 1024],
])(
  'a video inside its interaction, as %s, is read from the answer to its poll, which needs the key',
  async (_as, size) => {
    await upstream.close();
    upstream = await openFakeGemini(KEY, { video: Buffer.alloc(size, 7), isAlwaysInline: true });
    const channel = open();
    const id = await submit(channel, planFor(OMNI));

    const { last } = await pollToEnd(channel, id);

    expect(last).toMatchObject({
      report: {
        phase: 'succeeded',
        url: `${upstream.url}/v1beta/interactions/${id}`,
        base64At: '/steps/0/content/0/data',
        credential: { header: 'x-goog-api-key' },
      },
    });
  },
);

test('a refused content is the fault of the content', async () => {
  const plan = planFor(OMNI, { content: [{ text: UNSAFE_PROMPT }] });

  expect(await open().submit(plan, signal)).toMatchObject({ outcome: 'refused', fault: 'content' });
});

test('an operation that fails for the content of its prompt says so', async () => {
  const channel = open();
  const id = await submit(channel, planFor(VEO, { content: [{ text: UNSAFE_PROMPT }] }));

  expect((await pollToEnd(channel, id)).last).toMatchObject({
    report: { phase: 'failed', failure: { code: 'content_rejected', message: 'The prompt violates the policy' } },
  });
});

test.each(['v1_9', `models/${VEO}/operations/op9`, 'models/../../v1beta/operations/op9'])(
  'an id that the upstream does not know is gone: %s',
  async (id) => {
    expect(await open().poll(id, signal)).toMatchObject({ found: false, gone: true });
  },
);

test('an interaction can be cancelled until it has ended, an operation never', async () => {
  const channel = open();
  const [first, second] = [await submit(channel, planFor(OMNI)), await submit(channel, planFor(OMNI))];
  const operation = await submit(channel, planFor(VEO));
  await pollToEnd(channel, second);
  const before = upstream.requests.length;

  expect(await channel.cancel(first, signal)).toBe(true);
  expect(await channel.cancel(second, signal)).toBe(false);
  expect(await channel.cancel(operation, signal)).toBe(false);
  expect(upstream.requests.slice(before)).toEqual([
    `POST /v1beta/interactions/${first}/cancel`,
    `POST /v1beta/interactions/${second}/cancel`,
  ]);
  expect((await pollToEnd(channel, first)).last).toMatchObject({
    report: { phase: 'failed', failure: { code: 'cancelled' } },
  });
});

test('the key is tested without a cost', async () => {
  expect(await open().test(signal)).toMatchObject({ ok: true });
  expect(await open('another-key').test(signal)).toEqual({ ok: false, detail: 'API key not valid.' });
});

describe('an order that the model cannot express is refused without a call', () => {
  const image = (role: 'last_frame' | 'reference_image'): AttemptItem => ({ ...FRAME, role });
  const video: AttemptItem = { media: 'video', role: 'reference_video', url: 'https://media.example/a.mp4' };

  test.each<[string, string, Partial<PlannedAttempt>]>([
    ['an unknown model', 'veo-2.0-generate-001', {}],
    ["a model with the name of an object's built-in property", 'constructor', {}],
    ['a length of 11 seconds', OMNI, { duration: 11 }],
    ['a square', OMNI, { ratio: '1:1' }],
    ['a last frame, whose form no source shows', OMNI, { content: [FRAME, image('last_frame')] }],
    ['a frame and a reference', OMNI, { content: [FRAME, image('reference_image')] }],
    ['a video by its URL', OMNI, { content: [video] }],
    ['an audio', OMNI, { content: [{ media: 'audio', role: 'reference_audio', url: 'data:audio/mp3;base64,AA==' }] }],
    ['a length of 5 seconds', VEO, { duration: 5 }],
    ['4 seconds at 4k', VEO, { duration: 4, resolution: '4K' }],
    ['4 seconds with a reference', VEO, { duration: 4, content: [image('reference_image')] }],
    ['an image by its URL', VEO, { content: [{ ...FRAME, url: 'https://media.example/a.png' }] }],
    ['a reference for the lite model', 'veo-3.1-lite-generate-preview', { content: [image('reference_image')] }],
  ])('%s: %s', async (_what, model, order) => {
    expect(await open().submit(planFor(model, order), signal)).toMatchObject({ outcome: 'refused', fault: 'unfit' });
    expect(upstream.requests).toEqual([]);
  });
});

test('a row in the options of the channel adds a model', async () => {
  const models = { 'veo-3.1-house': { form: 'operation', seconds: [8] } };

  expect(await open(KEY, { models }).submit(planFor('veo-3.1-house'), signal)).toMatchObject({
    outcome: 'accepted',
    upstreamId: expect.stringMatching(/^models\/veo-3\.1-house\/operations\//),
  });
});
