import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { wav } from '../../services/media/testing/pictures.ts';
import { serves, startOrigin } from '../../services/media/testing/origin.ts';
import type { Origin } from '../../services/media/testing/origin.ts';
import { openFakeGemini } from '../../services/tasks/testing/upstreams/gemini.ts';
import type { FakeGemini } from '../../services/tasks/testing/upstreams/gemini.ts';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { showTask } from '../harness/records.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';

const FIXTURES = path.join(import.meta.dirname, '../../services/media/testing/fixtures');
const [VIDEO, PNG, JPEG, SMALL, MP3] = ['768p.mp4', 'image.png', 'image.jpg', 'small.png', 'audio.mp3'].map((name) =>
  readFileSync(path.join(FIXTURES, name)),
) as [Buffer, Buffer, Buffer, Buffer, Buffer];
const START_TIMEOUT_MS = 120_000;
const OMNI = 'Omni-1';
const OMNI_SECONDS = '5';
/** A box of a movie file that readers skip. With it, the Base64 of the video has more than 11 MiB. */
const FREE_BOX_BYTES = 9 * 1024 * 1024;
const BASE64 = PNG.toString('base64');
const dataUrl = (type: string, bytes: Uint8Array): string =>
  `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;

/** Adds a model whose upstream answers with the bytes of each video. */
function withOmni(config: TestConfig, host: string): TestConfig {
  const channel = {
    ...config.channels[0]!,
    id: 'omni',
    adapter: 'gemini',
    base_url: `http://${host}`,
    endpoints: ['video.generation'],
    models: { [OMNI]: 'gemini-omni-1.1-flash' },
  };
  const model = { kind: 'video', duration: [3, 10] as const, resolutions: ['720P'], ratios: ['16:9'] };
  return {
    ...config,
    channels: [...config.channels, { ...channel, reconcile: 'none' }] as TestConfig['channels'],
    models: { ...config.models, [OMNI]: model } as TestConfig['models'],
    prices: { ...config.prices, [OMNI]: { per_second: '0.10' } } as TestConfig['prices'],
  };
}

function addFreeBox(movie: Buffer): Buffer {
  const box = Buffer.alloc(FREE_BOX_BYTES, 7);
  box.writeUInt32BE(FREE_BOX_BYTES, 0);
  box.write('free', 4, 'latin1');
  return Buffer.concat([movie, box]);
}
const LARGE_VIDEO = addFreeBox(VIDEO);

let origin: Origin;
let upstream: ScriptedUpstream;
let gemini: FakeGemini;
let program: Program;
let demo: HttpCaller;
let done: string;
let theirs: string;
let link: URL;
let theirLink: string;

beforeAll(async () => {
  [origin, upstream, gemini] = await Promise.all([
    startOrigin(),
    startScriptedUpstream(),
    openFakeGemini(UPSTREAM_KEY, { video: LARGE_VIDEO, isAlwaysInline: true }),
  ]);
  program = await newProgram('one program', { upstream: upstream.host }, (config) => ({
    ...withOmni(config, gemini.host),
    media: { ...config.media, fetch: { allow: [upstream.host, origin.host, gemini.host] } },
  }));
  await program.start();
  demo = httpCaller(program.base, KEYS.demo);
  const other = httpCaller(program.base, KEYS.other);
  const [mine, his] = await Promise.all(
    [demo, other].map(async (caller) => {
      const taskId = await caller.create('/v1/videos', {
        model: 'Alpha-H3',
        prompt: 'a red boat',
        seconds: '4',
        size: '1280x720',
      });
      return { taskId, link: ((await caller.finish(taskId)).json as { video_url: string }).video_url };
    }),
  );
  [done, theirs, link, theirLink] = [mine!.taskId, his!.taskId, new URL(mine!.link), his!.link];
}, START_TIMEOUT_MS);
afterAll(async () => {
  await program?.end();
  await Promise.all([upstream?.stop(), origin?.close(), gemini?.close()]);
}, START_TIMEOUT_MS);

type Item = Readonly<Record<string, unknown>>;
const image = (url: string, role = 'reference_image'): Item => ({ type: 'image_url', role, image_url: { url } });
const video = (url: string): Item => ({ type: 'video_url', role: 'reference_video', video_url: { url } });
const sound = (url: string): Item => ({ type: 'audio_url', role: 'reference_audio', audio_url: { url } });
type Create = readonly [string, object];
const compat = (items: readonly Item[]): Create => [
  '/v1/videos',
  { model: 'Alpha-H3', content: [{ type: 'text', text: 'a boat' }, ...items], seconds: '4', size: '1280x720' },
];
const vendor = (items: readonly Item[]): Create => [
  '/v2/video_generation',
  {
    model: 'Alpha-H3',
    content: [{ type: 'text', text: 'a boat' }, ...items],
    duration: 4,
    resolution: '768P',
    ratio: '16:9',
  },
];
const DIALECTS: readonly (readonly [string, (items: readonly Item[]) => Create])[] = [
  ['/v1/videos', compat],
  ['/v2/video_generation', vendor],
];

/** The form in which the channel got the last medium of the last create. */
function sentBytes(): Buffer {
  const { content } = upstream.works.at(-1)!.order as unknown as {
    content: Readonly<Record<string, { url: string }>>[];
  };
  const last = content.at(-1)!;
  const url = (last['image_url'] ?? last['video_url'] ?? last['audio_url'])!.url;
  expect(url).toMatch(/^data:/);
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
}

const isPng = (bytes: Buffer): boolean => bytes.toString('latin1', 1, 4) === 'PNG';
const isJpeg = (bytes: Buffer): boolean => bytes.toString('hex', 0, 2) === 'ffd8';

describe.each(DIALECTS)('a reference in %s', (_route, body) => {
  test.each<[string, () => readonly Item[], (bytes: Buffer) => boolean]>([
    ['an external address', () => [image(origin.url(serves(PNG, { 'content-type': 'image/png' })))], isPng],
    [
      'a result of this service, by an absolute address',
      () => [video(`${program.base}/v1/videos/${done}/content`)],
      (bytes) => bytes.equals(VIDEO),
    ],
    ['our own content, as a path', () => [video(`/v1/videos/${done}/content`)], (bytes) => bytes.equals(VIDEO)],
    [
      'a result of this service, under another scheme',
      () => [video(`${program.base.replace('http:', 'https:')}/v1/videos/${done}/content`)],
      (bytes) => bytes.equals(VIDEO),
    ],
    ['the link of a result', () => [video(link.href)], (bytes) => bytes.equals(VIDEO)],
    ['the path of that link', () => [video(link.pathname + link.search)], (bytes) => bytes.equals(VIDEO)],
    [
      "the same without its signature, since it is the owner's",
      () => [video(link.pathname)],
      (bytes) => bytes.equals(VIDEO),
    ],
    ['a data URL', () => [image(dataUrl('image/png', PNG))], isPng],
    ['a data URL in capitals', () => [image(`DATA:IMAGE/PNG;BASE64,${BASE64}`)], isPng],
    ['a data URL with parameters', () => [image(`data:image/png;charset=utf-8;name=a.png;base64,${BASE64}`)], isPng],
    ['a data URL in lines', () => [image(`data:image/png;base64,${BASE64.replace(/(.{76})/g, '$1\r\n')}`)], isPng],
    ['a data URL without its padding', () => [image(`data:image/png;base64,${BASE64.replace(/=+$/, '')}`)], isPng],
    ['a data URL that calls a photo a PNG', () => [image(dataUrl('image/png', JPEG))], isJpeg],
    ['a data URL of a video', () => [video(dataUrl('video/mp4', VIDEO))], (bytes) => bytes.equals(VIDEO)],
    [
      'a data URL of sound, under an alternative type name',
      () => [image(dataUrl('image/png', PNG)), sound(dataUrl('audio/mp3', MP3))],
      (bytes) => bytes.equals(MP3),
    ],
    [
      'a data URL of a WAV',
      () => [image(dataUrl('image/png', PNG)), sound(dataUrl('audio/x-wav', wav(3)))],
      (bytes) => bytes.equals(wav(3)),
    ],
  ])('%s reaches the channel as bytes', async (what, items, isIt) => {
    const before = origin.hits.length;
    await demo.create(...body(items()));

    expect(isIt(sentBytes())).toBe(true);
    expect(origin.hits.length - before).toBe(what === 'an external address' ? 1 : 0);
  });

  test.each<[string, () => Item]>([
    ["another account's content", () => video(`/v1/videos/${theirs}/content`)],
    ["another account's link", () => video(theirLink)],
    ['an unknown task', () => video('/v1/videos/task_00000000000000000000000000/content')],
    ['an unknown object', () => video('/ximg/vid_00000000000000000000000000000000.mp4')],
  ])('%s is as unknown as any', async (_what, item) => {
    const made = upstream.asked.length;
    const [answer, unknown] = [
      await demo.call('POST', ...body([item()])),
      await demo.call('POST', ...body([video('/v1/videos/task_x/content')])),
    ];
    const said = ({ json }: typeof answer): unknown => (json as { error: { message: string } }).error.message;

    expect([answer.status, said(answer)]).toEqual([400, said(unknown)]);
    expect(upstream.asked.length).toBe(made);
  });

  test.each<[string, () => Item]>([
    ['a route of ours that has no media', () => video('/v1/models')],
    ['another host by a path', () => video('//origin.example/v.mp4')],
    ['a relative path', () => video('v.mp4')],
    ['a file of the upstream', () => image('mm_file://123')],
    ['an asset', () => image('asset://asset-1')],
    ['a file', () => image('file:///etc/passwd')],
    ['white space', () => image(' ')],
    ['a space before it', () => image(` ${dataUrl('image/png', PNG)}`)],
    ['a picture of our own that is a video', () => image(link.href)],
    ['a data URL without base64', () => image('data:image/png,abc')],
    ['a data URL in percents', () => image(`data:image/png;base64,${encodeURIComponent(`${BASE64}+/=`)}`)],
    ['base64 of addresses', () => image(`data:image/png;base64,${BASE64.replaceAll('+', '-').replaceAll('/', '_')}`)],
    ['broken base64', () => image('data:image/png;base64,!!!!')],
    ['base64 that is cut off', () => image(`data:image/png;base64,${BASE64.slice(0, 1001)}`)],
    ['padding in the middle', () => image(`data:image/png;base64,${BASE64.slice(0, 100)}==${BASE64}`)],
    ['no bytes', () => image('data:image/png;base64,')],
    ['no bytes but white space', () => image('data:image/png;base64,  \n')],
    ['two commas', () => image(`data:image/png;base64,,${BASE64}`)],
    ['a head that is too long', () => image(`data:image/png;a=${'b'.repeat(300)};base64,${BASE64}`)],
    ['a page', () => image(dataUrl('text/html', Buffer.from('<b>')))],
    ['a page under the name of a picture', () => image(dataUrl('image/png', Buffer.from('<b>')))],
    [
      'a drawing',
      () =>
        image(
          dataUrl('image/svg+xml', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300"/>')),
        ),
    ],
    ['a video for a picture', () => image(dataUrl('video/mp4', VIDEO))],
    ['a small picture', () => image(dataUrl('image/png', SMALL))],
    [
      'a picture of too many bytes',
      () => image(dataUrl('image/png', Buffer.concat([PNG, Buffer.alloc(30 * 1024 ** 2)]))),
    ],
  ])('%s is refused by its item, and nothing was made', async (_what, item) => {
    const made = upstream.asked.length;
    const answer = await demo.call('POST', ...body([item()]));

    expect(answer.status).toBe(400);
    expect(answer.text).toMatch(/content/);
    expect(upstream.asked.length).toBe(made);
    expect(answer.text).not.toMatch(/127\.0\.0\.1:(?!\d+\/v1)|\/tmp\//);
  });
});

// made when they are sent, so that the file does not hold them to its end
test.each<[string, () => Buffer]>([
  ['zeros as a picture', () => Buffer.alloc(31 * 1024 ** 2)],
  ['a picture with much behind it', () => Buffer.concat([PNG, Buffer.alloc(31 * 1024 ** 2)])],
])('%s of too many bytes is told its size, whatever its bytes are', async (_what, bytes) => {
  const answer = await demo.call('POST', ...compat([image(dataUrl('image/png', bytes()))]));

  expect([answer.status, (answer.json as { error: { message: string } }).error.message]).toEqual([
    400,
    expect.stringMatching(/at most 30 MiB/),
  ]);
});

test.each([
  ['a data URL', dataUrl('image/jpeg', JPEG)],
  ['base64 alone', JPEG.toString('base64')],
])('the image of /v1/video/generations may be %s', async (_what, bytes) => {
  await demo.create('/v1/video/generations', { model: 'Alpha-H3', prompt: 'a boat', duration: 4, image: bytes });

  expect(isJpeg(sentBytes())).toBe(true);
});

test.each(['dead', 'html', 'torn'])(
  'a result whose link is %s is polled again, and is stored and charged once',
  async (what) => {
    const taskId = await demo.create('/v1/videos', {
      model: 'Alpha-H3',
      prompt: `[mark:${what}] [link:${what}] a boat`,
      seconds: '4',
      size: '1280x720',
    });
    const { json } = await demo.finish(taskId);
    const bytes = await fetch((json as { video_url: string }).video_url).then((response) => response.arrayBuffer());

    expect(Buffer.from(bytes).equals(VIDEO)).toBe(true);
    expect(upstream.works.filter(({ mark }) => mark === what).map(({ links }) => links > 1)).toEqual([true]);
    expect(await showTask(program, taskId)).toMatchObject({
      state: 'TASK_STATE_COMPLETED',
      attempts: [{ number: 1 }],
      settlement: { basis: 'BASIS_USAGE' },
    });
  },
  60_000,
);

describe('the bytes of a result', () => {
  test('go from inside the answer of the upstream to the store, however many they are', async () => {
    const order = { model: OMNI, prompt: 'a red boat', seconds: OMNI_SECONDS, resolution: '720P', ratio: '16:9' };
    const taskId = await demo.create('/v1/videos', order);

    const finished = await demo.finish(taskId);
    const { video_url: url } = finished.json as { video_url: string };
    const content = await fetch(url);

    expect(LARGE_VIDEO.toString('base64').length).toBeGreaterThan(8 * 1024 * 1024);
    expect(Buffer.from(await content.arrayBuffer()).equals(LARGE_VIDEO)).toBe(true);
    // the last poll and the transfer of the bytes read the same answer
    // a list of models is a probe of the channel
    const [create, ...reads] = gemini.requests.filter((request) => !request.includes('/models?'));
    expect(create).toBe('POST /v1beta/interactions');
    expect(new Set(reads)).toEqual(new Set(['GET /v1beta/interactions/v1_1']));
  });

  const token = { authorization: `Bearer ${KEYS.demo}` };
  const ask = (how: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Response> =>
    fetch(how === 'link' ? link : `${program.base}/v1/videos/${done}/content`, {
      method,
      headers: { ...(how === 'link' ? {} : token), ...headers },
    });

  test.each(['token', 'link'])('by %s have the headers of the contract, by HEAD too, and in part', async (how) => {
    const [whole, head, part, tail] = await Promise.all([
      ask(how),
      ask(how, {}, 'HEAD'),
      ask(how, { range: 'bytes=100-199' }),
      ask(how, { range: 'bytes=-999999999' }),
    ]);
    const named = ({ headers }: Response) =>
      Object.fromEntries(
        [
          'content-type',
          'content-length',
          'accept-ranges',
          'etag',
          'cache-control',
          'x-content-type-options',
          'content-security-policy',
        ].map((name) => [name, headers.get(name)]),
      );

    expect(named(whole)).toEqual({
      'content-type': 'video/mp4',
      'content-length': String(VIDEO.byteLength),
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
      'cache-control': expect.stringMatching(/^private/),
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
    });
    expect(whole.headers.get('content-disposition')).toMatch(/^inline; filename="[\w.]+\.mp4"$/);
    expect([head.status, named(head), (await head.arrayBuffer()).byteLength]).toEqual([200, named(whole), 0]);
    expect([
      part.status,
      part.headers.get('content-range'),
      Buffer.from(await part.arrayBuffer()).equals(VIDEO.subarray(100, 200)),
    ]).toEqual([206, `bytes 100-199/${VIDEO.byteLength}`, true]);
    expect([tail.status, Buffer.from(await tail.arrayBuffer()).equals(VIDEO)]).toEqual([206, true]);
    expect((await ask(how, { 'if-none-match': whole.headers.get('etag')! })).status).toBe(304);
    expect(Buffer.from(await whole.arrayBuffer()).equals(VIDEO)).toBe(true);
  });

  test.each<[string, (url: URL) => string]>([
    ['cut off', (url) => url.href.slice(0, -1)],
    ['of another result', (url) => url.href.replace(url.pathname, new URL(theirLink).pathname)],
    ['with a later end', (url) => url.href.replace(/exp=(\d+)/, (_all, end: string) => `exp=${Number(end) + 1}`)],
    [
      'with its signature in capitals',
      (url) => url.href.replace(/sig=.*/, (sig) => sig.toUpperCase().replace('SIG', 'sig')),
    ],
    ['with another extension', (url) => url.href.replace('.mp4', '.webm')],
    ['with two signatures', (url) => `${url.href}&sig=${url.searchParams.get('sig')!}`],
    ['without a signature', (url) => url.href.replace(/&sig=.*/, '')],
  ])('are not given for a link %s', async (_what, change) => {
    const answer = await fetch(change(link));

    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ error: { code: 'invalid_link' } });
  });

  test('are unknown to another account, and a 409 that no SDK repeats before they exist', async () => {
    const waiting = await demo.create('/v1/videos', {
      model: 'Alpha-H3',
      prompt: '[take:60000] a boat',
      seconds: '4',
      size: '1280x720',
    });
    const content = (taskId: string, key: string, method = 'GET') =>
      fetch(`${program.base}/v1/videos/${taskId}/content`, { method, headers: { authorization: `Bearer ${key}` } });
    const [foreign, unknown, early, earlyHead] = await Promise.all([
      content(done, KEYS.other),
      content('task_00000000000000000000000000', KEYS.other),
      content(waiting, KEYS.demo),
      content(waiting, KEYS.demo, 'HEAD'),
    ]);

    expect([foreign.status, await foreign.text()]).toEqual([404, await unknown.text()]);
    expect([early.status, early.headers.get('x-should-retry'), earlyHead.status]).toEqual([409, 'false', 409]);
    expect(await early.json()).toMatchObject({ error: { code: 'task_not_completed' } });
  });

  test('as a thumbnail are a JPEG with a name of its own, in part and by HEAD too', async () => {
    const thumbnail = (headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Response> =>
      fetch(`${program.base}/v1/videos/${done}/content?variant=thumbnail`, {
        method,
        headers: { ...token, ...headers },
      });
    const whole = await thumbnail();
    const bytes = Buffer.from(await whole.arrayBuffer());
    const [head, part, same] = await Promise.all([
      thumbnail({}, 'HEAD'),
      thumbnail({ range: 'bytes=0-1' }),
      thumbnail({ 'if-none-match': whole.headers.get('etag')! }),
    ]);

    expect([whole.status, whole.headers.get('content-type'), isJpeg(bytes)]).toEqual([200, 'image/jpeg', true]);
    expect([
      head.status,
      head.headers.get('content-length'),
      part.status,
      (await part.arrayBuffer()).byteLength,
      same.status,
    ]).toEqual([200, String(bytes.byteLength), 206, 2, 304]);
  });
});
