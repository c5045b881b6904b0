import { describe, expect, test } from '@jest/globals';
import { BOAT, brief, refusalOf } from '../../../testing/order-summary.ts';
import { decodeOpenRouter } from './decode.ts';

const decode = (json: unknown) => decodeOpenRouter({ json }, { models: new Map(), params: {} });
const URL = 'https://x.example/i.png';
const whole = { model: 'Alpha-H3', prompt: 'a boat' };
const image = { type: 'image_url', image_url: { url: URL } };
const first = { ...image, frame_type: 'first_frame' };
const video = { type: 'video_url', video_url: { url: 'https://x.example/v.mp4' } };
const audio = { type: 'audio_url', audio_url: { url: 'https://x.example/a.mp3' } };

describe('a body is decoded into a generation', () => {
  test.each<[string, object, object]>([
    ['the smallest body', whole, BOAT],
    [
      'length, ratio and resolution',
      { ...whole, duration: 8, aspect_ratio: '9:16', resolution: '2K' },
      { ...BOAT, duration: 8, ratio: '9:16', resolution: '2K' },
    ],
    ['a size', { ...whole, size: '1280x720' }, { ...BOAT, size: '1280x720' }],
    ['a resolution in the case of OpenRouter', { ...whole, resolution: '768p' }, BOAT],
    [
      'a resolution in the case of OpenRouter, beside a size',
      { ...whole, size: '720x1280', resolution: '2k' },
      { ...BOAT, size: '720x1280', ratio: '9:16', resolution: '2K' },
    ],
    ['another resolution, which its rules refuse', { ...whole, resolution: '720p' }, { ...BOAT, resolution: '720p' }],
    [
      'frames',
      { ...whole, frame_images: [first, { ...image, frame_type: 'last_frame' }] },
      { ...BOAT, content: ['a boat', { image: URL, role: 'first_frame' }, { image: URL, role: 'last_frame' }] },
    ],
    [
      'references',
      { ...whole, input_references: [image, video, audio] },
      {
        ...BOAT,
        content: [
          'a boat',
          { image: URL, role: 'reference_image' },
          { video: video.video_url.url, role: 'reference_video' },
          { audio: audio.audio_url.url, role: 'reference_audio' },
        ],
      },
    ],
    [
      'frames and references together, which the rules of the model judge',
      { ...whole, frame_images: [first], input_references: [image] },
      { ...BOAT, content: ['a boat', { image: URL, role: 'first_frame' }, { image: URL, role: 'reference_image' }] },
    ],
    [
      'fields that only some generators take',
      { ...whole, seed: 7, generate_audio: false, negative_prompt: 'rain' },
      { ...BOAT, extra: { seed: 7, generate_audio: false, negative_prompt: 'rain' } },
    ],
    [
      'words of the client, which no generator gets',
      { ...whole, n: 1, user: 'u1', session_id: 's1', trace: { trace_id: 't1' }, provider: { options: {} } },
      BOAT,
    ],
    ['null, which is absent', { ...whole, seed: null, frame_images: null, callback_url: null, provider: null }, BOAT],
  ])('%s', (_what, body, order) => {
    expect(brief(decode(body).order)).toEqual(order);
  });

  test('a data URL is stored, with its place', () => {
    const url = 'data:image/png;base64,AAAA';

    expect(decode({ ...whole, frame_images: [{ ...first, image_url: { url } }] }).inline).toEqual([
      { item: 1, field: 'frame_images[0].image_url.url', declaredType: 'image/png', bytes: { base64: 'AAAA' } },
    ]);
  });

  test('a webhook and a bound stand beside the order', () => {
    const webhookUrl = 'https://studio.example/hook';

    expect(decode({ ...whole, webhook_url: webhookUrl, max_amount: '0.40', currency: 'USD' }).beside).toEqual({
      webhookUrl,
      maxAmountNanos: 400_000_000n,
      currency: 'USD',
    });
  });
});

describe('an invalid body is refused', () => {
  test.each<[string, unknown, string, string | undefined]>([
    ['null', null, 'invalid_request', undefined],
    ['a list', [], 'invalid_request', undefined],
    ['a form', undefined, 'invalid_request', undefined],
    ['no model', { prompt: 'a boat' }, 'missing_model', 'model'],
    ['no text', { model: 'Alpha-H3' }, 'invalid_content', 'prompt'],
    ['a blank text', { model: 'Alpha-H3', prompt: ' ' }, 'invalid_content', 'prompt'],
    ['two videos', { ...whole, n: 2 }, 'invalid_request', 'n'],
    ['a broken duration', { ...whole, duration: 4.5 }, 'invalid_duration', 'duration'],
    ['a duration in words', { ...whole, duration: '5' }, 'invalid_duration', 'duration'],
    ['a size in words', { ...whole, size: 'wide' }, 'invalid_request', 'size'],
    ['a frame without its place', { ...whole, frame_images: [image] }, 'invalid_content', 'frame_images[0].frame_type'],
    [
      'a video as a frame',
      { ...whole, frame_images: [{ ...video, frame_type: 'first_frame' }] },
      'invalid_content',
      'frame_images[0].image_url',
    ],
    [
      'a reference of no type',
      { ...whole, input_references: [{ url: URL }] },
      'invalid_content',
      'input_references[0].type',
    ],
    [
      'a reference with the member of another type',
      { ...whole, input_references: [{ type: 'video_url', image_url: { url: URL } }] },
      'invalid_content',
      'input_references[0].video_url',
    ],
    [
      'a picture in a reference to sound',
      { ...whole, input_references: [{ type: 'audio_url', audio_url: { url: 'data:image/png;base64,AAAA' } }] },
      'invalid_media',
      'input_references[0].audio_url.url',
    ],
    ['a seed in words', { ...whole, seed: 'seven' }, 'invalid_request', 'seed'],
    ['sound in words', { ...whole, generate_audio: 'yes' }, 'invalid_request', 'generate_audio'],
    ['a trace with the length of the video', { ...whole, trace: { duration: 5 } }, 'unknown_field', 'trace.duration'],
  ])('%s', (_what, body, reason, field) => {
    expect(refusalOf(() => decode(body))).toMatchObject({ reason, field });
  });
});

describe('a field that would be dropped is refused by its name, with the right one', () => {
  test.each<[string, object, string, RegExp]>([
    [
      'a callback',
      { callback_url: 'https://x.example/hook' },
      'callback_url',
      /form and the signature.*send webhook_url$/,
    ],
    ['a video to go on from', { previous_job_id: 'task_1' }, 'previous_job_id', /source_task_id to \/v1\/videos$/],
    ['a factor to upscale with', { upscale_factor: 2 }, 'upscale_factor', /models that upscale/],
    ['creativity', { creativity: 1 }, 'creativity', /models that upscale/],
    [
      'options for a provider',
      { provider: { options: { 'google-vertex': { parameters: {} } } } },
      'provider',
      /chooses the generator/,
    ],
    ['an order of providers', { provider: { order: ['google-vertex'] } }, 'provider', /chooses the generator/],
    ['options that are no object', { provider: { options: 'x' } }, 'provider', /chooses the generator/],
    ['options that are null', { provider: { options: null } }, 'provider', /chooses the generator/],
    ['the length of OpenAI', { seconds: '5', duration_s: [5] }, 'duration_s', /duration/],
    ['a picture', { image: URL }, 'image', /send frame_images for the first and the last frame, input_references/],
    ['a last frame', { last_frame: URL }, 'last_frame', /in frame_images, with the frame_type last_frame$/],
    ['a reference', { reference_images: [URL] }, 'reference_images', /send input_references$/],
    ['a video', { video_urls: [URL] }, 'video_urls', /video_url item of input_references$/],
    ['a sound', { audio: { url: URL } }, 'audio', /audio_url item of input_references$/],
    ['a ratio', { ratios: {} }, 'ratios', /send aspect_ratio$/],
    ['a source', { source_task: {} }, 'source_task', /send source_task_id to \/v1\/videos$/],
    ['a misspelt field', { frameImages: [first] }, 'frameImages', /did you mean frame_images$/],
  ])('%s', (_what, over, field, message) => {
    expect(refusalOf(() => decode({ ...whole, ...over }))).toMatchObject({
      reason: 'unknown_field',
      field,
      message: expect.stringMatching(message),
    });
  });

  test('also if only the tasks service can know that no generator takes it', () => {
    const { describeRight } = decode({ ...whole, seconds: 5, seed: 7 });

    expect(['seconds', 'ratio', 'sound', 'seed'].map((field) => describeRight?.(field))).toEqual([
      'send duration',
      'send aspect_ratio',
      'send sound as an audio_url item of input_references',
      'leave it out, or name a model whose generator takes it',
    ]);
  });
});

test('a field of the order has the name that the client wrote', () => {
  const decoded = decode({ ...whole, aspect_ratio: '1:1', size: '1280x720', input_references: [image] });

  expect(
    ['duration', 'ratio', 'resolution', 'content[0].text', 'content[1].media.url', 'max_amount_nanos'].map((field) =>
      decoded.clientField(field),
    ),
  ).toEqual(['duration', 'aspect_ratio', 'size', 'prompt', 'input_references[0]', 'max_amount']);
});
