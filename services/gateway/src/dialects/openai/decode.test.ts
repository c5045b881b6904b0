import { describe, expect, test } from '@jest/globals';
import { chooseDefaults } from '../../domain/model-defaults.ts';
import type { Model } from '../../domain/model-defaults.ts';
import { BOAT, brief, refusalOf } from '../../../testing/order-summary.ts';
import { decodeCreate } from './decode.ts';
import { remixVideo } from './remix-video.ts';

const alpha = {
  duration: { min: 4, max: 15 },
  resolutions: ['768P', '2K'],
  ratios: ['adaptive', '21:9', '16:9', '4:3', '1:1', '3:4', '9:16'],
};
const other = { ...alpha, resolutions: ['480P', '720P', '1080P'] };
const odd = { ...alpha, resolutions: ['best', 'fast'] };
const models: ReadonlyMap<string, Model> = new Map(
  Object.entries({ 'Alpha-H3': alpha, Other: other, Odd: odd }).map(([id, model]) => [
    id,
    { ...model, defaults: chooseDefaults(model) },
  ]),
);
const decode = (json: unknown) => decodeCreate({ json }, { models, params: {} });

const URL = 'https://x.example/m';
const base = { type: 'video_url', role: 'base_video', video_url: { url: URL } };

describe('a body is decoded into an order', () => {
  test.each<[string, object, object]>([
    [
      'the flat fields',
      { model: 'Alpha-H3', prompt: 'a boat', seconds: '7', size: '720x1280' },
      { ...BOAT, duration: 7, ratio: '9:16', size: '720x1280' },
    ],
    ['seconds as a number', { model: 'Alpha-H3', prompt: 'a boat', seconds: 8 }, { ...BOAT, duration: 8 }],
    [
      'a size of 2K',
      { model: 'Alpha-H3', prompt: 'a boat', size: '2560x1440' },
      { ...BOAT, resolution: '2K', size: '2560x1440' },
    ],
    [
      'a size that is a resolution of another model',
      { model: 'Other', prompt: 'a boat', size: '1280x720' },
      { ...BOAT, model: 'Other', resolution: '720P', size: '1280x720' },
    ],
    [
      'a size for a model whose resolutions name no pixels',
      { model: 'Odd', prompt: 'a boat', size: '720x1280' },
      { ...BOAT, model: 'Odd', ratio: '9:16', resolution: 'best', size: '720x1280' },
    ],
    ['the defaults of the model', { model: 'Alpha-H3', prompt: 'a boat' }, BOAT],
    [
      'null fields count as absent',
      { model: 'Alpha-H3', prompt: 'a boat', seconds: null, size: null, content: null, action: null },
      BOAT,
    ],
    [
      'an explicit ratio and resolution take precedence over size',
      { model: 'Alpha-H3', prompt: 'a boat', size: '1280x720', ratio: '1:1', resolution: '2K' },
      { ...BOAT, ratio: '1:1', resolution: '2K', size: '1280x720' },
    ],
    ['text in content', { model: 'Alpha-H3', content: [{ type: 'text', text: 'a boat' }] }, BOAT],
    [
      'the same text twice counts once',
      { model: 'Alpha-H3', prompt: 'a boat', content: [{ type: 'text', text: 'a boat' }] },
      BOAT,
    ],
    [
      'media follow the prompt in their order',
      {
        model: 'Alpha-H3',
        prompt: 'a boat',
        content: [
          { type: 'image_url', role: 'reference_image', image_url: { url: URL } },
          { type: 'audio_url', role: 'reference_audio', audio_url: { url: URL } },
        ],
      },
      {
        ...BOAT,
        content: ['a boat', { image: URL, role: 'reference_image' }, { audio: URL, role: 'reference_audio' }],
      },
    ],
    [
      'input_reference is the first frame',
      { model: 'Alpha-H3', prompt: 'a boat', input_reference: { image_url: URL } },
      { ...BOAT, content: ['a boat', { image: URL, role: 'first_frame' }] },
    ],
    [
      'fields that only a generator can know are left to the channels',
      { model: 'Alpha-H3', prompt: 'a boat', style: 'noir', seed: 7, prompt_extend: true, user: 'me', foo: null },
      { ...BOAT, extra: { style: 'noir', seed: 7, prompt_extend: true, user: 'me' } },
    ],
    [
      'metadata are the words of the client',
      { model: 'Alpha-H3', prompt: 'a boat', metadata: { order: 7, note: 'x' }, n: 1 },
      BOAT,
    ],
    [
      'aspect_ratio is the ratio',
      { model: 'Alpha-H3', prompt: 'a boat', aspect_ratio: '9:16', ratio: '9:16' },
      { ...BOAT, ratio: '9:16' },
    ],
    ...(['image', 'first_frame', 'first_frame_image', 'input_reference'] as const).map(
      (name): [string, object, object] => [
        `${name} is the first frame`,
        { model: 'Alpha-H3', prompt: 'a boat', [name]: URL },
        { ...BOAT, content: ['a boat', { image: URL, role: 'first_frame' }] },
      ],
    ),
    ...(['last_frame', 'last_frame_image'] as const).map((name): [string, object, object] => [
      `${name} is the last frame`,
      { model: 'Alpha-H3', prompt: 'a boat', [name]: { url: URL } },
      { ...BOAT, content: ['a boat', { image: URL, role: 'last_frame' }] },
    ]),
    [
      'one of images is the first frame',
      { model: 'Alpha-H3', prompt: 'a boat', images: [URL] },
      { ...BOAT, content: ['a boat', { image: URL, role: 'first_frame' }] },
    ],
    [
      'several images and reference_images are references',
      { model: 'Alpha-H3', prompt: 'a boat', images: [URL, { image_url: URL }], reference_images: [URL] },
      { ...BOAT, content: ['a boat', ...Array.from({ length: 3 }, () => ({ image: URL, role: 'reference_image' }))] },
    ],
    [
      'the watermark of a generation is passed on to the channel',
      { model: 'Alpha-H3', prompt: 'a boat', aigc_watermark: true },
      { ...BOAT, extra: { aigc_watermark: true } },
    ],
    [
      'an unknown model is decoded too',
      { model: 'No-Such', prompt: 'a boat', size: '1280x720' },
      { ...BOAT, model: 'No-Such', size: '1280x720' },
    ],
    [
      'a source task',
      { model: 'Alpha-H3', source_task_id: 'task_1' },
      { kind: 'regeneration', model: 'Alpha-H3', content: [], resolution: '2K', sourceTaskId: 'task_1' },
    ],
    [
      'a source task determines the prompt',
      { model: 'Alpha-H3', source_task_id: 'task_1', prompt: 'other' },
      { kind: 'regeneration', model: 'Alpha-H3', content: [], resolution: '2K', sourceTaskId: 'task_1' },
    ],
    [
      'a base video',
      { model: 'Alpha-H3', prompt: 'a boat', content: [base], resolution: '2K', aigc_watermark: false },
      {
        kind: 'regeneration',
        model: 'Alpha-H3',
        content: ['a boat', { video: URL, role: 'base_video' }],
        resolution: '2K',
        aigcWatermark: false,
      },
    ],
    [
      'the resolution of a regeneration is not checked here',
      { model: 'Alpha-H3', source_task_id: 'task_1', resolution: '768P' },
      { kind: 'regeneration', model: 'Alpha-H3', content: [], resolution: '768P', sourceTaskId: 'task_1' },
    ],
  ])('%s', (_what, body, order) => {
    expect(brief(decode(body).order)).toEqual(order);
  });
});

describe('an invalid body is refused with the names of its fields', () => {
  const whole = { model: 'Alpha-H3', prompt: 'a boat' };
  test.each<[string, unknown, string, string | undefined]>([
    ['a body that is not an object', [], 'invalid_request', undefined],
    ['null', null, 'invalid_request', undefined],
    ['no model', { prompt: 'a boat' }, 'missing_model', 'model'],
    ['a model that is a number', { ...whole, model: 3 }, 'missing_model', 'model'],
    ['a prompt that is a number', { ...whole, prompt: 5 }, 'invalid_content', 'prompt'],
    ['no text', { model: 'Alpha-H3', seconds: '5' }, 'invalid_content', 'prompt'],
    ['blank text', { model: 'Alpha-H3', prompt: ' \n ' }, 'invalid_content', 'prompt'],
    ['two different texts', { ...whole, content: [{ type: 'text', text: 'a car' }] }, 'invalid_content', 'prompt'],
    ['an unpaired surrogate', { ...whole, prompt: '\ud800' }, 'invalid_content', 'prompt'],
    ...['4.5', 'five', '-5', '5s', '', ' 5', '99999999999'].map((seconds): [string, unknown, string, string] => [
      `seconds ${JSON.stringify(seconds)}`,
      { ...whole, seconds },
      'invalid_duration',
      'seconds',
    ]),
    ['seconds 4.5', { ...whole, seconds: 4.5 }, 'invalid_duration', 'seconds'],
    ['seconds true', { ...whole, seconds: true }, 'invalid_duration', 'seconds'],
    ['seconds and another duration', { ...whole, seconds: '5', duration: 6 }, 'invalid_duration', 'seconds'],
    ...['huge', '0x0', '1280', '1280x', '-1280x720', ''].map((size): [string, unknown, string, string] => [
      `size ${JSON.stringify(size)}`,
      { ...whole, size },
      'invalid_request',
      'size',
    ]),
    ['a source that is a number', { model: 'Alpha-H3', source_task_id: 5 }, 'invalid_request', 'source_task_id'],
    ['an action that is a number', { ...whole, action: 1 }, 'invalid_action', 'action'],
    ['an unknown action', { ...whole, action: 'upscale' }, 'invalid_action', 'action'],
    [
      'source and base',
      { model: 'Alpha-H3', source_task_id: 'task_1', content: [base] },
      'conflicting_source',
      'source_task_id',
    ],
    ['two bases', { model: 'Alpha-H3', content: [base, base] }, 'conflicting_source', 'content'],
    [
      'a base video with an empty URL',
      { model: 'Alpha-H3', content: [{ ...base, video_url: { url: '' } }] },
      'invalid_content',
      'content[0].video_url.url',
    ],
    [
      'a base video without a URL',
      { model: 'Alpha-H3', content: [{ ...base, video_url: {} }] },
      'invalid_content',
      'content[0].video_url.url',
    ],
    [
      'a base video without a URL object',
      { model: 'Alpha-H3', content: [{ type: 'video_url', role: 'base_video' }] },
      'invalid_content',
      'content[0].video_url',
    ],
    [
      'a base video that is null',
      { model: 'Alpha-H3', content: [{ ...base, video_url: null }] },
      'invalid_content',
      'content[0].video_url',
    ],
    [
      'a base video that is a string',
      { model: 'Alpha-H3', content: [{ ...base, video_url: URL }] },
      'invalid_content',
      'content[0].video_url',
    ],
    [
      'a URL that is a number',
      { model: 'Alpha-H3', content: [{ ...base, video_url: { url: 4 } }] },
      'invalid_content',
      'content[0].video_url.url',
    ],
    ['content that is an object', { ...whole, content: {} }, 'invalid_content', 'content'],
    ['an item that is null', { ...whole, content: [null] }, 'invalid_content', 'content[0]'],
    ['an item without a type', { ...whole, content: [{ text: 'x' }] }, 'invalid_content', 'content[0].type'],
    [
      'an item of an unknown type',
      { ...whole, content: [{ type: 'smell', text: 'x' }] },
      'invalid_content',
      'content[0].type',
    ],
    [
      'an item with an unknown field',
      { ...whole, content: [{ type: 'text', text: 'a boat', Role: 'x' }] },
      'unknown_field',
      'content[0].Role',
    ],
    [
      'an unknown role',
      { ...whole, content: [{ type: 'image_url', role: 'middle_frame', image_url: { url: URL } }] },
      'invalid_content',
      'content[0].role',
    ],
    [
      'a role of another type',
      { ...whole, content: [{ type: 'image_url', role: 'base_video', image_url: { url: URL } }] },
      'invalid_content',
      'content[0].role',
    ],
    [
      'a text that is a number',
      { ...whole, content: [{ type: 'text', text: 7 }] },
      'invalid_content',
      'content[0].text',
    ],
    [
      'more items than an order may have',
      { ...whole, content: Array.from({ length: 101 }, () => ({ type: 'text', text: 'a boat' })) },
      'invalid_content',
      'content',
    ],
    ...(['seconds', 'duration', 'size', 'ratio', 'aspect_ratio'] as const).map(
      (name): [string, object, string, string] => [
        `${name} beside a source task, which decides it`,
        { model: 'Alpha-H3', source_task_id: 'task_1', [name]: '5' },
        name.endsWith('ratio') ? 'invalid_ratio' : name === 'size' ? 'invalid_request' : 'invalid_duration',
        name,
      ],
    ),
    ['a text longer than a call can carry', { ...whole, prompt: 'a'.repeat(1_000_001) }, 'invalid_content', 'prompt'],
    ['other fields longer than a call can carry', { ...whole, style: 'a'.repeat(1_000_001) }, 'unknown_field', 'style'],
    [
      'a data URL without base64',
      { ...whole, input_reference: 'data:image/png,hello' },
      'invalid_media',
      'input_reference',
    ],
    [
      'a data URL of another family',
      { ...whole, content: [{ type: 'image_url', image_url: { url: 'data:text/html;base64,AAAA' } }] },
      'invalid_media',
      'content[0].image_url.url',
    ],
  ])('%s', (_what, body, reason, field) => {
    const refusal = refusalOf(() => decode(body));

    expect(refusal).toMatchObject({ reason, field });
    expect(refusal.message.length).toBeLessThan(400);
  });
});

describe('a field of the order has the name that the client wrote', () => {
  const flat = decode({
    model: 'Alpha-H3',
    prompt: 'a boat',
    seconds: '5',
    size: '1280x720',
    input_reference: URL,
    content: [{ type: 'image_url', role: 'last_frame', image_url: { url: URL } }],
  });
  const plain = decode({
    model: 'Alpha-H3',
    content: [{ type: 'text', text: 'a boat' }],
    duration: 5,
    resolution: '2K',
    ratio: '1:1',
  });

  test.each([
    ['duration', 'seconds'],
    ['ratio', 'size'],
    ['resolution', 'size'],
    ['content[0]', 'prompt'],
    ['content[0].text', 'prompt'],
    ['content[1]', 'input_reference'],
    ['content[2].media.role', 'content[0].role'],
    ['content[2].media.url', 'content[0].image_url'],
    ['content[1].media.url', 'input_reference'],
    ['model', 'model'],
    ['content', 'content'],
    ['content[9]', 'content[9]'],
  ])('%s is %s', (field, written) => {
    expect(flat.clientField(field)).toBe(written);
  });
  test.each(['duration', 'ratio', 'resolution', 'content[0].text'])('%s keeps its name', (field) => {
    expect(plain.clientField(field)).toBe(field);
  });
});

test('the bytes of data URLs are kept apart from the order', () => {
  const decoded = decode({
    model: 'Alpha-H3',
    prompt: 'a boat',
    content: [
      { type: 'video_url', role: 'reference_video', video_url: { url: 'DATA:video/MP4;codecs=x;base64,AAAA' } },
    ],
  });

  expect(brief(decoded.order)).toMatchObject({
    content: ['a boat', { video: '(video/mp4)', role: 'reference_video' }],
  });
  expect(decoded.inline).toEqual([
    { item: 1, field: 'content[0].video_url.url', declaredType: 'video/mp4', bytes: { base64: 'AAAA' } },
  ]);
});

const BARE = 'iVBOR'.repeat(120);
test.each([
  ['without a data URL', BARE],
  ['in a data URL without a type', `data:;base64,${BARE}`],
  ['in a data URL whose type says nothing', `data:application/octet-stream;base64,${BARE}`],
])('the first frame can be base64 %s', (_how, given) => {
  expect(decode({ model: 'Alpha-H3', prompt: 'a boat', input_reference: given }).inline).toEqual([
    { item: 1, field: 'input_reference', declaredType: '', bytes: { base64: BARE } },
  ]);
});

test('the refusal of a remix without its fields names what to send', () => {
  expect(refusalOf(() => remixVideo.decode({ json: { prompt: 'a boat' } }, { models, params: {} })).message).toMatch(
    /^is required: exactly Alpha-H3; send /,
  );
});
