import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { readFields, catchRefusal } from '@reelgate/platform/testing/refusals';
import { until } from '@reelgate/platform/testing/until';
import sharp from 'sharp';
import { Category } from '@reelgate/proto/media/v1/media_service';
import { startMediaUnderTest } from '../../testing/media-under-test.ts';
import type { MediaUnderTest } from '../../testing/media-under-test.ts';
import { endlessMp3 } from '../../testing/movie-bombs.ts';
import { fixture, redirects, serves, startOrigin } from '../../testing/origin.ts';
import type { Behaviour, Origin } from '../../testing/origin.ts';
import { png, wav } from '../../testing/pictures.ts';

const PICTURE = fixture('image.png');

let origin: Origin;
let results: Origin;
let under: MediaUnderTest;
let tasks = 0;

beforeAll(async () => {
  [origin, results] = await Promise.all([startOrigin(), startOrigin()]);
  under = await startMediaUnderTest({
    section: { fetch: { allow: [origin.host, results.host] }, limits: { audio: '20KiB' } },
  });
});
afterAll(async () => {
  await under.close();
  await Promise.all([origin.close(), results.close()]);
});
const arriving = (): readonly string[] => under.blobs().filter((name) => name.startsWith('in_'));
afterEach(async () => {
  // the thumbnail of a result is drawn in the background
  await until(() => arriving().length === 0);
});

const newTask = (): string => `task_${(tasks += 1)}`;
const stage = async (url: string, category = Category.IMAGE, over: { accountId?: string; taskId?: string } = {}) =>
  (await under.client.stageMedia({ accountId: 'demo', taskId: newTask(), category, url, ...over })).media!;
const refusal = async (url: string, category = Category.IMAGE, over: { accountId?: string } = {}): Promise<string> => {
  const problem = await stage(url, category, over).then(
    () => {
      throw new Error('the reference was staged');
    },
    (error: unknown) => error as { kind: string; reason: string; field?: string; message: string },
  );
  expect(problem).toMatchObject({ kind: 'invalid', reason: 'invalid_media', field: undefined });
  return problem.message;
};
const dataUrl = (type: string, bytes: Uint8Array): string =>
  `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
const served = (name: string, type?: string): string =>
  origin.url(serves(fixture(name), type === undefined ? {} : { 'content-type': type }));
const bytesOf = async (object: string): Promise<Buffer> =>
  Buffer.concat((await (await under.media.bytes.read(object))!.stream.toArray()) as Buffer[]);

const pixelsOf = (bytes: Buffer): Promise<Buffer> => sharp(bytes).ensureAlpha().raw().toBuffer();

describe('an image for a channel', () => {
  const SECRET = 'taken at 52.5200 13.4050';
  const photo = (orientation: number): Promise<Buffer> =>
    sharp({ create: { width: 400, height: 300, channels: 3, background: '#336699' } })
      .withMetadata({ orientation })
      .withExifMerge({ IFD0: { ImageDescription: SECRET } })
      .jpeg()
      .toBuffer();

  test('has only its pixels: metadata and appended bytes stay in this service', async () => {
    const tail = Buffer.from('<script>polyglot</script>');
    const sent = Buffer.concat([await photo(1), tail]);
    expect(sent.includes(SECRET)).toBe(true);

    const kept = await bytesOf((await stage(dataUrl('image/jpeg', sent))).object);

    expect([kept.includes(SECRET), kept.includes('polyglot'), (await sharp(kept).metadata()).exif]).toEqual([
      false,
      false,
      undefined,
    ]);
    expect(await sharp(kept).metadata()).toMatchObject({ format: 'jpeg', width: 400, height: 300 });
  });

  test('is rotated as its metadata say', async () => {
    expect(await stage(dataUrl('image/jpeg', await photo(6)))).toMatchObject({ width: 300, height: 400 });
  });

  test('keeps its transparency', async () => {
    const clear = await sharp({
      create: { width: 300, height: 300, channels: 4, background: { r: 255, g: 0, b: 0, alpha: 0.5 } },
    })
      .png()
      .toBuffer();
    const kept = await bytesOf((await stage(dataUrl('image/png', clear))).object);

    expect(await pixelsOf(kept)).toEqual(await pixelsOf(clear));
  });

  test('is redrawn once, and not at all if the operator turns redrawing off', async () => {
    const first = await stage(dataUrl('image/jpeg', fixture('image.jpg')));
    const again = (
      await under.client.stageMedia({
        accountId: 'demo',
        taskId: newTask(),
        category: Category.IMAGE,
        object: first.object,
      })
    ).media!;
    expect((await bytesOf(again.object)).equals(await bytesOf(first.object))).toBe(true);

    const plain = await startMediaUnderTest({ section: { staged: { redraw: false } } });
    const { media } = await plain.client.stageMedia({
      accountId: 'demo',
      taskId: 'task_1',
      category: Category.IMAGE,
      url: dataUrl('image/jpeg', fixture('image.jpg')),
    });
    expect(media?.bytes).toBe(BigInt(fixture('image.jpg').byteLength));
    await plain.close();
  });
});

describe('an external address', () => {
  test.each([
    [
      'image.png',
      'image/png',
      Category.IMAGE,
      { mediaType: 'image/png', width: 640, height: 360, durationMs: 0n, hasAudio: false },
    ],
    ['image.jpg', undefined, Category.IMAGE, { mediaType: 'image/jpeg', width: 640, height: 360 }],
    [
      '768p.mp4',
      'application/octet-stream',
      Category.VIDEO,
      { mediaType: 'video/mp4', width: 1344, height: 768, durationMs: 4458n, frameRate: 24, hasAudio: true },
    ],
    ['768p.mp4', 'video/mp4', Category.BASE_VIDEO, { mediaType: 'video/mp4', hasAudio: true }],
    ['audio.mp3', 'audio/mp3', Category.AUDIO, { mediaType: 'audio/mpeg', durationMs: 3056n }],
  ])('%s as %s is staged, and its bytes are frozen', async (name, type, category, facts) => {
    const media = await stage(served(name, type), category);

    expect(media).toMatchObject(facts);
    expect((await bytesOf(media.object)).equals(fixture(name))).toBe(category !== Category.IMAGE);
    expect(media.bytes).toBe(BigInt((await bytesOf(media.object)).byteLength));
  });

  test('that redirects is followed', async () => {
    expect((await stage(origin.url(redirects(served('image.png'))))).mediaType).toBe('image/png');
  });

  test('is fetched once for a task, even if its content changes later', async () => {
    const taskId = newTask();
    let requests = 0;
    const url = origin.url((request, response) => {
      requests += 1;
      serves(fixture(requests === 1 ? 'image.png' : 'image.jpg'))(request, response);
    });
    const [first, second] = await Promise.all([
      stage(url, Category.IMAGE, { taskId }),
      stage(url, Category.IMAGE, { taskId }),
    ]);
    const third = await stage(url, Category.IMAGE, { taskId });

    expect([first.mediaType, second.object, third.object]).toEqual(['image/png', first.object, first.object]);
    expect(requests).toBe(1);
    expect((await stage(url)).mediaType).toBe('image/jpeg');
  });

  const says =
    (status: number): Behaviour =>
    (_request, response) => {
      response.writeHead(status).end();
    };
  /** The origin is private and excepted, so a client learns only of media that it is given. */
  const UNREACHED = /^could not be fetched: its address cannot be reached$/;
  test.each<[string, () => string, Category, RegExp]>([
    [
      'a page',
      () => origin.url(serves(Buffer.from('<html>'), { 'content-type': 'text/html' })),
      Category.IMAGE,
      UNREACHED,
    ],
    [
      'a web page named as an image',
      () => origin.url(serves(Buffer.from('<html>'), { 'content-type': 'image/png' })),
      Category.IMAGE,
      UNREACHED,
    ],
    ['a missing file', () => origin.url(says(404)), Category.IMAGE, UNREACHED],
    ['an image that is too small', () => served('small.png'), Category.IMAGE, /256 to 5760 pixels; it has 32×32/],
    ['a video as an image', () => served('768p.mp4'), Category.IMAGE, UNREACHED],
    ['an image as a video', () => served('image.png'), Category.VIDEO, UNREACHED],
    ['an image as audio', () => served('image.png'), Category.AUDIO, UNREACHED],
    ['a 2K video as a base video', () => served('2k.mp4'), Category.BASE_VIDEO, /768P/],
    ['too many bytes', () => origin.url(serves(wav(4))), Category.AUDIO, UNREACHED],
    ['audio that is too short', () => origin.url(serves(wav(1))), Category.AUDIO, /2 to 15 seconds/],
    [
      'a loop',
      () =>
        origin.url((request, response) => {
          redirects(request.url ?? '')(request, response);
        }),
      Category.IMAGE,
      UNREACHED,
    ],
    ['a private address', () => 'http://127.0.0.1:9/x.png', Category.IMAGE, /cannot be reached|port/],
    ['metadata', () => 'http://169.254.169.254/latest/', Category.IMAGE, /cannot be reached/],
    [
      'a redirect to a private address',
      () => origin.url(redirects('http://169.254.169.254/latest/')),
      Category.IMAGE,
      /cannot be reached/,
    ],
  ])('%s is refused', async (_what, url, category, said) => {
    const message = await refusal(url(), category);

    expect(message).toMatch(said);
    expect(message).not.toMatch(/127\.0|169\.254|localhost/);
  });

  test('that was refused leaves nothing, and can be staged later', async () => {
    const before = under.blobs();
    let good = false;
    const url = origin.url((request, response) => {
      serves(fixture(good ? 'image.webp' : 'small.png'))(request, response);
    });
    const taskId = newTask();

    await expect(stage(url, Category.IMAGE, { taskId })).rejects.toMatchObject({ reason: 'invalid_media' });
    expect(under.blobs()).toEqual(before);
    good = true;
    expect((await stage(url, Category.IMAGE, { taskId })).mediaType).toBe('image/webp');
  });
});

describe('a data URL', () => {
  test.each(['image/png', '', 'application/octet-stream'])('of the type "%s" is staged by its bytes', async (type) => {
    const media = await stage(dataUrl(type, fixture('image.png')));

    expect(media).toMatchObject({ mediaType: 'image/png', width: 640 });
    expect(await pixelsOf(await bytesOf(media.object))).toEqual(await pixelsOf(fixture('image.png')));
  });

  test.each<[string, string, Category, RegExp]>([
    ['of another type', dataUrl('text/html', Buffer.from('<b>x</b>')), Category.IMAGE, /declared as text/],
    ['with a false type', dataUrl('image/png', Buffer.from('<b>x</b>')), Category.IMAGE, /JPEG.*none of these/],
    [
      'without a type, of none that is taken',
      dataUrl('', Buffer.from('<b>x</b>')),
      Category.IMAGE,
      /JPEG.*none of these/,
    ],
    ['with damaged bytes', 'data:image/png;base64,!!!!', Category.IMAGE, /base64/],
    ['of an image that is too small', dataUrl('image/png', fixture('small.png')), Category.IMAGE, /32×32/],
    ['of too many bytes', dataUrl('audio/wav', wav(4)), Category.AUDIO, /20 KiB/],
    ['of too many pixels', dataUrl('image/png', png(8000, 6000)), Category.IMAGE, /pixels/],
  ])('%s is refused', async (_what, url, category, said) => {
    expect(await refusal(url, category)).toMatch(said);
  });
});

describe('inline bytes', () => {
  test('are staged for the account that sent them, and for no other', async () => {
    const { object, bytes } = await under.media.bytes.put(fixture('image.png'), { accountId: 'demo' });
    const order = { accountId: 'demo', taskId: newTask(), category: Category.IMAGE, object, declaredType: 'image/png' };

    expect(bytes).toBe(fixture('image.png').byteLength);
    expect((await under.client.stageMedia(order)).media).toMatchObject({ mediaType: 'image/png', width: 640 });
    await expect(under.client.stageMedia({ ...order, accountId: 'other' })).rejects.toMatchObject({
      reason: 'invalid_media',
      message: expect.stringContaining('of this account'),
    });
    await expect(under.client.stageMedia({ ...order, object: 'inl_unknown' })).rejects.toMatchObject({
      message: expect.stringContaining('of this account'),
    });
    await expect(
      under.client.stageMedia({ ...order, taskId: newTask(), declaredType: 'text/html' }),
    ).rejects.toMatchObject({ message: expect.stringContaining('declared as') });
    await expect(
      under.client.stageMedia({ ...order, taskId: newTask(), category: Category.VIDEO, declaredType: '' }),
    ).rejects.toMatchObject({ message: expect.stringContaining('must be a video') });
  });

  test.each<[string, () => Promise<string>]>([
    ['of another account', async () => (await under.media.bytes.put(PICTURE, { accountId: 'other' })).object],
    [
      'that only our services read',
      async () => (await under.media.bytes.put(PICTURE, { accountId: 'demo', privateMs: 60_000 })).object,
    ],
    [
      'that was removed',
      async () => {
        const { object } = await under.media.bytes.put(PICTURE, { accountId: 'demo' });
        await under.media.bytes.remove([object]);
        return object;
      },
    ],
  ])('an object %s is refused like an unknown one', async (_which, objectOf) => {
    const staging = async (object: string) =>
      catchRefusal(under.client.stageMedia({ accountId: 'demo', taskId: newTask(), category: Category.IMAGE, object }));

    expect(readFields(await staging(await objectOf()))).toEqual(readFields(await staging('inl_unknown')));
  });
});

describe('references to this service:', () => {
  const ingested = async (accountId = 'demo'): Promise<{ taskId: string; object: string }> => {
    const taskId = newTask();
    const { result } = await under.client.ingestResult({
      accountId,
      taskId,
      url: results.url(serves(fixture('768p.mp4'))),
    });
    return { taskId, object: result!.object };
  };

  test('a result is found by task and by link, absolute or as a path, without a request', async () => {
    const { taskId, object } = await ingested();
    const before = [...origin.hits, ...results.hits].length;

    for (const url of [
      `/v1/videos/${taskId}/content`,
      `https://gate.example/v1/videos/${taskId}/content`,
      `/ximg/${object}.mp4`,
      `https://gate.example/ximg/${object}.mp4?exp=1&sig=x`,
    ]) {
      const media = await stage(url, Category.VIDEO);
      expect((await bytesOf(media.object)).equals(fixture('768p.mp4'))).toBe(true);
      expect(media.object).not.toBe(object);
    }
    expect((await stage(`/v1/videos/${taskId}/content`, Category.BASE_VIDEO)).hasAudio).toBe(true);
    expect([...origin.hits, ...results.hits].length).toBe(before);
  });

  test('a result of another account, an unknown one and a removed one get the same refusal', async () => {
    const { taskId, object } = await ingested('other');
    const { taskId: removed } = await ingested();
    await under.client.removeResult({ taskId: removed });

    const messages = await Promise.all(
      [
        `/v1/videos/${taskId}/content`,
        `/ximg/${object}.mp4`,
        '/v1/videos/task_unknown/content',
        '/ximg/vid_unknown.mp4',
        `/v1/videos/${removed}/content`,
      ].map((url) => refusal(url, Category.VIDEO)),
    );
    expect(new Set(messages).size).toBe(1);
    expect(await stage(`/ximg/${object}.mp4`, Category.VIDEO, { accountId: 'other' })).toMatchObject({
      mediaType: 'video/mp4',
    });
  });

  test('private bytes have no reference, even for their account', async () => {
    const { object } = await under.media.bytes.put(fixture('image.png'), { accountId: 'demo', privateMs: 60_000 });

    expect(await refusal(`/ximg/${object}.png`)).toBe(await refusal('/ximg/prv_unknown.png'));
  });

  test('other addresses of this service and unknown kinds of references are refused', async () => {
    for (const url of [
      'https://gate.example/v1/models',
      '/v1/models',
      'asset://asset-1',
      'mm_file://1',
      'file:///etc/hostname',
      'image.png',
    ])
      await refusal(url);
  });
});

test.each([
  [{ category: Category.UNSPECIFIED }, 'category'],
  [{ url: '' }, 'url'],
  [{ object: 'inl_1' }, 'url'],
  [{ accountId: '' }, 'account_id'],
])('a call with %j is refused with the name of the field', async (over, field) => {
  await expect(
    under.client.stageMedia({
      accountId: 'demo',
      taskId: 't',
      category: Category.IMAGE,
      url: 'https://a.example/',
      ...over,
    }),
  ).rejects.toMatchObject({ kind: 'invalid', reason: 'invalid_request', field });
});

describe('a reference without a waiting caller', () => {
  test('leaves the queue unparsed, and is staged again for the next caller', async () => {
    const one = await startMediaUnderTest({
      section: {
        probe: { workers: 1, timeout: '1s' },
        limits: { audio: '100MiB' },
        inline: { max_bytes: '128MiB', per_account: '256MiB' },
      },
    });
    const order = (taskId: string, url: string, category = Category.IMAGE) => ({
      accountId: 'demo',
      taskId,
      category,
      url,
    });
    const held = one.client
      .stageMedia(order('task_held', dataUrl('audio/mpeg', endlessMp3()), Category.AUDIO))
      .catch((error: unknown) => error);
    const leaving = new AbortController();
    const left = one.client
      .stageMedia(order('task_left', dataUrl('image/png', png(300, 300))), { signal: leaving.signal })
      .catch(() => 'left');
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
    leaving.abort();
    expect(await left).toBe('left');

    const { media } = await one.client.stageMedia(order('task_next', dataUrl('image/png', png(301, 301))));
    expect(await held).toMatchObject({ reason: 'invalid_media' });
    expect(media).toMatchObject({ width: 301 });
    expect(one.blobs()).toHaveLength(1);
    expect((await one.client.stageMedia(order('task_left', dataUrl('image/png', png(300, 300))))).media).toMatchObject({
      width: 300,
    });
    await one.close();
  }, 120_000);
});
