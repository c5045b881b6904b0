import { describe, expect, test } from '@jest/globals';
import type { Experimental_VideoModelV4CallOptions } from '@ai-sdk/provider';
import { createReelgate } from './src/index.ts';

const BYTES_MAX = 256 * 1024 * 1024;
const VIDEO = {
  id: 'task_1',
  status: 'completed',
  created_at: 1_795_334_516,
  video_url: 'https://gateway.example/ximg/a.mp4?s=1',
  charge: { state: 'charged', amount: '0.40', currency: 'USD' },
};
const CALL: Experimental_VideoModelV4CallOptions = {
  prompt: 'a red boat',
  n: 1,
  aspectRatio: undefined,
  resolution: undefined,
  duration: undefined,
  fps: undefined,
  seed: undefined,
  image: undefined,
  frameImages: undefined,
  inputReferences: undefined,
  generateAudio: undefined,
  providerOptions: {},
};

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A model whose requests get these answers in turn. */
function modelWith(...answers: readonly (Response | object)[]) {
  const sent: Sent[] = [];
  const left = [...answers];
  const { video } = createReelgate({
    baseURL: 'https://gateway.example/v1/',
    apiKey: 'rg_1',
    headers: { 'x-own': '1' },
    fetch: async (url, { method = '', headers, body } = {}) => {
      const named = Object.fromEntries(new Headers(headers));
      sent.push({ method, url: url as string, headers: named, body: JSON.parse((body ?? 'null') as string) });
      const answer = left.shift() ?? new Response('', { status: 500 });
      return answer instanceof Response ? answer : Response.json(answer);
    },
  });
  const model = video('Alpha-H3');
  return {
    sent,
    start: (call: Partial<typeof CALL> & { readonly webhookUrl?: string }) => model.doStart!({ ...CALL, ...call }),
    ask: (operation: Readonly<Record<string, string | boolean>> = { id: 'task_1' }) => model.doStatus!({ operation }),
  };
}

const image = { type: 'url', url: 'https://a.example/a' } as const;
const bytes = { type: 'file', mediaType: 'image/png', data: new Uint8Array([1, 2, 3]) } as const;
const item = (type: string, role: string, url: string): object => ({ type, role, [type]: { url } });

describe('an order', () => {
  test.each<[string, Parameters<ReturnType<typeof modelWith>['start']>[0], object]>([
    ['has no field without a value', {}, {}],
    ['has a length and a ratio', { duration: 5, aspectRatio: 'adaptive' }, { seconds: '5', ratio: 'adaptive' }],
    ['has a size', { resolution: '1280x720' }, { size: '1280x720' }],
    [
      'has a resolution by its name in place of the size',
      { resolution: '1280x720', providerOptions: { reelgate: { resolution: '2K' } } },
      { resolution: '2K' },
    ],
    [
      'has a bound, and members of the caller that replace no other',
      {
        providerOptions: {
          reelgate: { max_amount: '0.50', currency: 'USD', extra: { model: 'other', camera: { pan: 1 } } },
        },
      },
      { max_amount: '0.50', currency: 'USD', camera: { pan: 1 } },
    ],
    ['has a webhook', { webhookUrl: 'https://a.example/w' }, { webhook_url: 'https://a.example/w' }],
    ['has an image as its first frame', { image }, { content: [item('image_url', 'first_frame', image.url)] }],
    [
      'has a first frame once that the SDK gives twice',
      {
        image,
        frameImages: [
          { image, frameType: 'first_frame' },
          { image: bytes, frameType: 'last_frame' },
        ],
      },
      {
        content: [
          item('image_url', 'first_frame', image.url),
          item('image_url', 'last_frame', 'data:image/png;base64,AQID'),
        ],
      },
    ],
    [
      'has references by their media type, else by the ending of their URL, else as images',
      {
        inputReferences: [
          bytes,
          { ...image, mediaType: 'audio/mpeg' },
          { type: 'url', url: 'https://a.example/b.MP4?c=d.png' },
          { type: 'url', url: 'https://a.example/b.wav' },
          image,
        ],
      },
      {
        content: [
          item('image_url', 'reference_image', 'data:image/png;base64,AQID'),
          item('audio_url', 'reference_audio', image.url),
          item('video_url', 'reference_video', 'https://a.example/b.MP4?c=d.png'),
          item('audio_url', 'reference_audio', 'https://a.example/b.wav'),
          item('image_url', 'reference_image', image.url),
        ],
      },
    ],
  ])('%s', async (_what, call, fields) => {
    const { start, sent } = modelWith(VIDEO);

    await start(call);

    expect(sent.map(({ body }) => body)).toEqual([{ model: 'Alpha-H3', prompt: 'a red boat', ...fields }]);
  });

  test('goes with the token, the headers of the settings and those of the call', async () => {
    const { start, sent } = modelWith(VIDEO);

    await start({ headers: { 'idempotency-key': 'k', prefer: 'class=batch' } });

    expect(sent).toMatchObject([
      {
        method: 'POST',
        url: 'https://gateway.example/v1/videos',
        headers: { authorization: 'Bearer rg_1', 'x-own': '1', 'idempotency-key': 'k', prefer: 'class=batch' },
      },
    ]);
  });

  test.each([{ maxAmount: '1' }, { max_amount: 1 }, { output: 'file' }])(
    'with the unknown option %j is refused before a request',
    async (reelgate) => {
      const { start, sent } = modelWith(VIDEO);

      await expect(start({ providerOptions: { reelgate } })).rejects.toMatchObject({ name: 'AI_InvalidArgumentError' });
      expect(sent).toEqual([]);
    },
  );

  test.each([
    [429, {}, true],
    [429, { 'x-should-retry': 'false' }, false],
    [503, { 'x-should-retry': 'false' }, true],
    [400, {}, false],
  ])('that is refused with %i and %j can be repeated: %p', async (status, headers, isRetryable) => {
    const { start } = modelWith(Response.json({ error: { message: 'the sentence' } }, { status, headers }));

    await expect(start({})).rejects.toMatchObject({ message: 'the sentence', isRetryable });
  });

  test('of several videos makes one, and says so', async () => {
    const { warnings } = await modelWith(VIDEO).start({ n: 2 });

    expect(warnings).toMatchObject([{ type: 'unsupported', feature: 'n' }]);
  });
});

describe('a status', () => {
  const pending = { ...VIDEO, status: 'in_progress', video_url: undefined };

  test('has the bytes, their type and the charge', async () => {
    const { ask, sent } = modelWith(VIDEO, new Response('mp4', { headers: { 'content-type': 'video/webm; a=b' } }));

    const own = { id: 'task_1', charge: VIDEO.charge };
    expect(await ask()).toMatchObject({
      status: 'completed',
      videos: [{ type: 'binary', data: new Uint8Array(Buffer.from('mp4')), mediaType: 'video/webm' }],
      providerMetadata: { reelgate: { ...own, videos: [own] } },
    });
    expect(sent.map(({ headers }) => headers['authorization'])).toEqual(['Bearer rg_1', 'Bearer rg_1']);
  });

  test('without a charge has none', async () => {
    const { providerMetadata } = await modelWith({ ...pending, charge: undefined }).ask();

    expect(providerMetadata).toEqual({ reelgate: { id: 'task_1' } });
  });

  test('waits for a moment, and once more after a webhook', async () => {
    const [polled, told] = [modelWith(pending), modelWith(pending, { ...VIDEO, status: 'failed' })];

    expect([(await polled.ask()).status, (await told.ask({ id: 'task_1', webhook: true })).status]).toEqual([
      'pending',
      'error',
    ]);
    expect([polled, told].map(({ sent }) => sent.map(({ headers }) => headers['prefer']))).toEqual([
      ['wait=4'],
      ['wait=4', 'wait=10'],
    ]);
  });

  test('has the link of a video that is too large for the memory', async () => {
    const large = new Response('a', { headers: { 'content-length': String(BYTES_MAX + 1) } });

    expect(await modelWith(VIDEO, large).ask()).toMatchObject({ videos: [{ type: 'url', url: VIDEO.video_url }] });
  });

  test('whose download breaks off can be asked for again', async () => {
    const broken = new ReadableStream({
      pull: (stream) => {
        stream.error(new Error('cut'));
      },
    });

    await expect(modelWith(VIDEO, new Response(broken)).ask()).rejects.toMatchObject({ isRetryable: true });
  });

  test('of something that is no operation is refused before a request', async () => {
    const { ask, sent } = modelWith(VIDEO);

    await expect(ask({ task: 'task_1' })).rejects.toMatchObject({ name: 'AI_TypeValidationError' });
    expect(sent).toEqual([]);
  });
});
