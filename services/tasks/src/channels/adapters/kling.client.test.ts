import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@reelgate/platform/clock';
import { Secret } from '@reelgate/platform/secret';
import { anAttempt } from '../../../testing/an-attempt.ts';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { FAILING_WORDS, KLING_VIDEO, openFakeKling, REFUSED_WORDS } from '../../../testing/upstreams/kling.ts';
import type { FakeKling } from '../../../testing/upstreams/kling.ts';
import { channelFactory } from '../adapter-channel.ts';
import type { AttemptItem, Channel, ChannelSettings, PlannedAttempt } from '../channel.ts';
import { kling } from './kling.ts';

/*
 * There is no packaged client of the new API of Kling. The requests of the first block are the curl examples of its
 * reference, with the address and the key of the fake.
 */

const KEY = 'kling-key-0123456789';
const signal = new AbortController().signal;
const IMAGE = 'https://media.example/ximg/a.png';
const image = (role: 'first_frame' | 'last_frame' | 'reference_image'): AttemptItem => ({
  media: 'image',
  role,
  url: IMAGE,
});
const video: AttemptItem = { media: 'video', role: 'reference_video', url: 'https://media.example/ximg/a.mp4' };
const planFor = (model: string, content: AttemptItem[] = [], order: Partial<PlannedAttempt> = {}): PlannedAttempt =>
  anAttempt({ model, resolution: '720P', ...order, content: [{ text: 'a fox' }, ...content] });
const times = (count: number, item: AttemptItem): AttemptItem[] => Array.from({ length: count }, () => item);

let upstream: FakeKling;
let channel: Channel;
const opened: Channel[] = [];

beforeAll(async () => {
  upstream = await openFakeKling(KEY);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});
afterAll(() => upstream.close());

function open(changes: Partial<ChannelSettings> = {}): Channel {
  const settings = channelSettings({ baseUrl: upstream.url, apiKey: new Secret(KEY), ...changes });
  channel = channelFactory(kling)(settings, systemClock);
  opened.push(channel);
  return channel;
}

/** Polls work until its end. */
async function finish(upstreamId: string): Promise<readonly unknown[]> {
  const polled = [];
  for (let poll = 0; poll < 3; poll += 1) polled.push(await channel.poll(upstreamId, signal));
  return polled;
}

async function submit(attempt: PlannedAttempt): Promise<string> {
  const submission = await channel.submit(attempt, signal);
  if (submission.outcome !== 'accepted') throw new Error(JSON.stringify(submission));
  return submission.upstreamId;
}

describe('the fake upstream', () => {
  const send = async (path: string, body?: string, authorization = `Bearer ${KEY}`): Promise<unknown> => {
    const response = await fetch(upstream.url + path, {
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { method: 'POST', body }),
    });
    return { status: response.status, ...((await response.json()) as object) };
  };

  test('answers the examples of the reference from the create to the result', async () => {
    const created = await send(
      '/omni-video/kling-3.0-omni',
      `{
        "contents": [
          {"type": "prompt", "text": "Change the color of the parrot’s feathers to match the reference image."},
          {"type": "first_frame", "url": "https://p2-kling.klingai.com/image_7.1.png", "id": "image_1"},
          {"type": "refer_image", "url": "https://p2-kling.klingai.com/image_7.1.png", "id": "image_2"}
        ],
        "settings": {"resolution": "1080p", "duration": 5, "audio": "native", "multi_shot": false},
        "options": {"callback_url": "https://xxx/callback", "external_task_id": ""}
      }`,
    );
    expect(created).toMatchObject({ status: 200, code: 0, data: { status: 'submitted' } });
    const { id } = (created as { data: { id: string } }).data;

    const read = () => send(`/tasks?task_ids=${id}`);
    expect([await read(), await read(), await read()]).toMatchObject([
      { data: [{ id, status: 'submitted' }] },
      { data: [{ id, status: 'processing' }] },
      { data: [{ id, status: 'succeeded', outputs: [{ type: 'video', duration: '5' }] }] },
    ]);
  });

  test.each<[string, string, string | undefined, object]>([
    ['an unknown id', '/tasks?external_task_ids=123', undefined, { status: 200, code: 0, data: [] }],
    ['both kinds of ids', '/tasks?task_ids=1&external_task_ids=1', undefined, { status: 400, code: 1200 }],
    ['an unknown model', '/text-to-video/kling-9', '{"prompt": "a fox"}', { status: 404, code: 1203 }],
    ['a route of the old API', '/v1/videos/text2video', '{"prompt": "a fox"}', { status: 404, code: 1202 }],
    ['contents for a text', '/text-to-video/kling-3.0', '{"contents": []}', { status: 400, code: 1201 }],
    [
      'a length that is a text',
      '/text-to-video/kling-3.0',
      '{"prompt": "a fox", "settings": {"duration": "5"}}',
      { status: 400, code: 1201 },
    ],
    [
      'a text for the omni model without a ratio',
      '/omni-video/kling-3.0-omni',
      '{"contents": [{"type": "prompt", "text": "a fox"}]}',
      { status: 400, code: 1201 },
    ],
  ])('answers %s as the API does', async (_what, path, body, answer) => {
    expect(await send(path, body)).toMatchObject(answer);
  });

  test('refuses an unknown key', async () => {
    expect(await send('/tasks?task_ids=1', undefined, 'Bearer other')).toMatchObject({ status: 401, code: 1002 });
  });
});

describe('the adapter', () => {
  test('brings an order from its submission to the video', async () => {
    open();
    const id = await submit(planFor('kling-3.0', [image('first_frame')], { key: 'task_2-1' }));

    const polled = await finish(id);

    expect(polled).toMatchObject([
      { report: { phase: 'queued' } },
      { report: { phase: 'running' } },
      { report: { phase: 'succeeded', usage: { outputSeconds: 5 } } },
    ]);
    const { url } = (polled[2] as { report: { url: string } }).report;
    expect(Buffer.from(await (await fetch(url)).arrayBuffer())).toEqual(KLING_VIDEO);
  });

  test.each<[string, PlannedAttempt]>([
    ['a text', planFor('kling-3.0-turbo')],
    ['a text for an older model', planFor('kling-2.5-turbo')],
    ['two frames', planFor('kling-2.6', [image('first_frame'), image('last_frame')], { resolution: '1080P' })],
    ['a text for the omni model', planFor('kling-3.0-omni')],
    ['references', planFor('kling-3.0-omni', times(7, image('reference_image')), { ratio: 'adaptive' })],
    ['a video and references', planFor('kling-3.0-omni', [video, ...times(4, image('reference_image'))])],
    ['a frame and a reference', planFor('kling-o1', [image('first_frame'), image('reference_image')], { duration: 4 })],
  ])('sends %s as the API takes it', async (_what, attempt) => {
    open();
    const id = await submit({ ...attempt, key: `task_3-${upstream.accepted.length}` });

    expect((await finish(id))[2]).toMatchObject({ report: { phase: 'succeeded' } });
  });

  test('polls several works with one call', async () => {
    open();
    const ids = [await submit(planFor('kling-3.0', [], { key: 'task_4-1' })), 'unknown'];
    await finish(ids[0]!);

    expect([...(await channel.pollMany(ids, signal)).values()]).toMatchObject([
      { found: true, report: { phase: 'succeeded' } },
      { found: false, gone: true },
    ]);
  });

  test('reports a failure of the content with the words of the upstream', async () => {
    open();
    const id = await submit(planFor('kling-3.0', [{ text: FAILING_WORDS }]));

    expect((await finish(id))[2]).toMatchObject({
      report: {
        phase: 'failed',
        failure: { code: 'content_rejected', message: expect.stringContaining('risk control') },
      },
    });
  });

  test('finds the work of a lost answer by its key, and no other', async () => {
    open();
    upstream.loseNextAnswer();
    const attempt = planFor('kling-3.0', [], { key: 'task_5-1' });

    expect(await channel.submit(attempt, signal)).toMatchObject({ outcome: 'unknown' });
    const now = systemClock.now();
    const lost = { key: attempt.key, model: attempt.model, startedAt: now, endedAt: now };
    const found = await channel.find(lost, signal);

    expect(found).toMatchObject({ outcome: 'accepted' });
    expect(await channel.find({ ...lost, key: 'task_5-2' }, signal)).toMatchObject({ outcome: 'cannot know' });
    if (found.outcome === 'accepted')
      expect((await finish(found.upstreamId))[2]).toMatchObject({ report: { phase: 'succeeded' } });
  });

  test('understands a refusal of the content, of the key and of too much work', async () => {
    open();
    const refused = planFor('kling-3.0', [{ text: REFUSED_WORDS }], { key: 'task_6-0' });
    expect(await channel.submit(refused, signal)).toMatchObject({ outcome: 'refused', fault: 'content', status: 400 });

    const running = [1, 2, 3].map((number) => planFor('kling-3.0', [], { key: `task_6-${number}` }));
    const ids = await Promise.all(running.map(submit));
    expect(await channel.submit(planFor('kling-3.0', [], { key: 'task_6-4' }), signal)).toMatchObject({
      outcome: 'refused',
      fault: 'throttle',
    });
    await Promise.all(ids.map(finish));

    const other = open({ apiKey: new Secret('other') });
    expect(await other.submit(planFor('kling-3.0'), signal)).toMatchObject({ outcome: 'refused', fault: 'credential' });
    expect(await other.test(signal)).toEqual({ ok: false, detail: 'api key not found' });
  });

  test('knows no unknown id, has no cancel, and tests the key without cost', async () => {
    open();

    expect(await channel.poll('unknown', signal)).toMatchObject({ found: false, gone: true });
    expect(await channel.cancel('unknown', signal)).toBe(false);
    expect(await channel.test(signal)).toMatchObject({ ok: true });
  });

  test.each<[string, PlannedAttempt]>([
    ['an unknown model', planFor('kling-4.0')],
    ["a model with the name of an object's built-in property", planFor('toString')],
    [
      'a last frame for a model that accepts none',
      planFor('kling-3.0-turbo', [image('first_frame'), image('last_frame')]),
    ],
    ['references for a model of frames', planFor('kling-3.0', [image('reference_image')])],
    ['two frames below 1080p for an older model', planFor('kling-2.6', [image('first_frame'), image('last_frame')])],
    ['five images beside a video', planFor('kling-3.0-omni', [video, ...times(5, image('reference_image'))])],
    ['two videos', planFor('kling-3.0-omni', [video, video])],
    ['a video inside the request', planFor('kling-3.0-omni', [{ ...video, url: 'data:video/mp4;base64,AAAA' }])],
    ['a frame of four seconds for O1', planFor('kling-o1', [image('first_frame')], { duration: 4 })],
    [
      'two frames and a reference for O1',
      planFor('kling-o1', [image('first_frame'), image('last_frame'), image('reference_image')]),
    ],
    [
      'a text beyond the bound of frames',
      planFor('kling-3.0-turbo', [image('first_frame'), { text: 'x'.repeat(2500) }]),
    ],
    ['a ratio that the API does not have', planFor('kling-3.0', [], { ratio: '21:9' })],
    ['a resolution that the model does not have', planFor('kling-3.0-turbo', [], { resolution: '4K' })],
    ['two seconds', planFor('kling-3.0', [], { duration: 2 })],
  ])('refuses %s without a call', async (_what, attempt) => {
    const before = upstream.accepted.length;

    expect(await open().submit(attempt, signal)).toMatchObject({ outcome: 'refused', fault: 'unfit' });
    expect(upstream.accepted).toHaveLength(before);
  });

  test('serves a model that the configuration adds', async () => {
    const options = { models: { 'kling-4.0': { route: 'frames', seconds: [5] } } };
    open({ options });

    // The fake does not know the model, so the order reaches it and is refused there.
    expect(await channel.submit(planFor('kling-4.0'), signal)).toMatchObject({ fault: 'channel' });
    expect(await channel.submit(planFor('kling-4.0', [], { duration: 6 }), signal)).toMatchObject({ fault: 'unfit' });
  });
});

describe('a callback', () => {
  const task = { id: '893605946402811985', status: 'succeeded' };

  test.each([
    ['with a list of tasks, as a read has', { code: 0, data: [task] }, task.id],
    ['with one task', { code: 0, data: task }, task.id],
    ['without a task', { code: 0, data: [] }, undefined],
    ['without data', { id: 'evt_1' }, undefined],
  ])('%s is read', (_what, body, id) => {
    expect(kling.callbacks?.readId(body)).toBe(id);
  });
});
