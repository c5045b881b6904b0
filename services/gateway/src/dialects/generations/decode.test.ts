import { describe, expect, test } from '@jest/globals';
import { BOAT, brief, refusalOf } from '../../../testing/order-summary.ts';
import { decodeGenerations } from './decode.ts';

const decode = (json: unknown) => decodeGenerations({ json }, { models: new Map(), params: {} });
const URL = 'https://x.example/i.png';
const whole = { model: 'Alpha-H3', prompt: 'a boat' };

describe('a body is decoded into a generation', () => {
  test.each<[string, object, object]>([
    ['the smallest body', whole, BOAT],
    [
      'duration and size',
      { ...whole, duration: 8, size: '720x1280' },
      { ...BOAT, duration: 8, ratio: '9:16', size: '720x1280' },
    ],
    ['seconds', { ...whole, seconds: '9' }, { ...BOAT, duration: 9 }],
    ['width and height', { ...whole, width: 2560, height: 1440 }, { ...BOAT, resolution: '2K', size: '2560x1440' }],
    ['one image', { ...whole, image: URL }, { ...BOAT, content: ['a boat', { image: URL, role: 'first_frame' }] }],
    [
      'one of several images',
      { ...whole, images: [URL] },
      { ...BOAT, content: ['a boat', { image: URL, role: 'first_frame' }] },
    ],
    [
      'several images',
      { ...whole, image: URL, images: [URL] },
      {
        ...BOAT,
        content: ['a boat', { image: URL, role: 'reference_image' }, { image: URL, role: 'reference_image' }],
      },
    ],
    [
      'fields that a channel may not support',
      { ...whole, n: 1, seed: 7, fps: 24, response_format: 'url', user: 'u1', metadata: { a: 1 } },
      { ...BOAT, extra: { seed: 7, fps: 24, user: 'u1' } },
    ],
    [
      'a source task, which its rules refuse',
      { ...whole, source_task_id: 'task_1' },
      { ...BOAT, sourceTaskId: 'task_1' },
    ],
    ['an empty source task', { ...whole, source_task_id: '' }, BOAT],
    [
      'a base_video, which its rules refuse',
      { ...whole, content: [{ type: 'video_url', role: 'base_video', video_url: { url: URL } }] },
      { ...BOAT, content: ['a boat', { video: URL, role: 'base_video' }] },
    ],
  ])('%s', (_what, body, order) => {
    expect(brief(decode(body).order)).toEqual(order);
  });
});

describe('an invalid body is refused', () => {
  test.each<[string, unknown, string, string | undefined]>([
    ['null', null, 'invalid_request', undefined],
    ['a form', undefined, 'invalid_request', undefined],
    ['no text', { model: 'Alpha-H3' }, 'invalid_content', 'prompt'],
    ['two videos', { ...whole, n: 2 }, 'invalid_request', 'n'],
    ['a width alone', { ...whole, width: 1280 }, 'invalid_request', 'height'],
    ['a height alone', { ...whole, height: 1280 }, 'invalid_request', 'width'],
    ['a width of zero', { ...whole, width: 0, height: 0 }, 'invalid_request', 'width'],
    ['two sizes', { ...whole, width: 1280, height: 720, size: '720x1280' }, 'invalid_request', 'size'],
    ['a broken duration', { ...whole, duration: 4.5 }, 'invalid_duration', 'duration'],
    ['an empty image', { ...whole, image: '' }, 'invalid_content', 'image'],
    ['an image that is a number', { ...whole, images: [5] }, 'invalid_content', 'images[0]'],
    ['another action', { ...whole, action: 'regeneration' }, 'invalid_action', 'action'],
    [
      'a data URL of another family',
      { ...whole, images: [URL, 'data:video/mp4;base64,AAAA'] },
      'invalid_media',
      'images[1]',
    ],
  ])('%s', (_what, body, reason, field) => {
    expect(refusalOf(() => decode(body))).toMatchObject({ reason, field });
  });
});

test('a field of the order has the name that the client wrote', () => {
  const decoded = decode({ ...whole, seconds: '5', width: 1280, height: 720, images: [URL, URL] });

  expect(
    ['duration', 'ratio', 'resolution', 'content[0].text', 'content[2].role'].map((field) =>
      decoded.clientField(field),
    ),
  ).toEqual(['seconds', 'width', 'width', 'prompt', 'images[1]']);
});

describe('base64 without the head of a data URL', () => {
  // The beginning of a JPEG, which could be a path.
  const bare = `/9j/${'A'.repeat(600)}==`;

  test.each([
    ['image', { image: bare }],
    ['images[0]', { images: [bare] }],
  ])('is the bytes of %s', (field, over) => {
    const decoded = decode({ ...whole, ...over });

    expect(brief(decoded.order)).toMatchObject({ content: ['a boat', { image: '()', role: 'first_frame' }] });
    expect(decoded.inline).toEqual([{ item: 1, field, declaredType: '', bytes: { base64: bare } }]);
  });
  test.each([
    ['a URL', `https://x.example/${'a'.repeat(600)}`],
    ['a path of this service', '/v1/videos/task_06gvprm4elo012tj6bkdc1f4n8/content'],
    ['a short word', 'image'],
    ['a file name', `${'a'.repeat(600)}.png`],
  ])('is not assumed for %s', (_what, image) => {
    const decoded = decode({ ...whole, image });

    expect(decoded.inline).toEqual([]);
    expect(brief(decoded.order)).toMatchObject({ content: ['a boat', { image, role: 'first_frame' }] });
  });
});
