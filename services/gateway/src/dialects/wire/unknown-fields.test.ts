import { describe, expect, test } from '@jest/globals';
import { refusalOf } from '../../../testing/order-summary.ts';
import { decodeCreate } from '../openai/decode.ts';
import type { Schema } from '../../domain/schema.ts';
import { dialects } from '../index.ts';
import { decodeGenerations } from '../generations/decode.ts';
import { describeRightField } from './unknown-fields.ts';

const context = { models: new Map(), params: {} };
const whole = { model: 'Alpha-H3', prompt: 'a boat' };
const URL = 'https://x.example/i.png';
const DIALECTS = [
  ['/v1/videos', (json: object) => decodeCreate({ json }, context)],
  ['/v1/video/generations', (json: object) => decodeGenerations({ json }, context)],
] as const;

describe.each(DIALECTS)('at %s a field is refused by its name', (_path, decode) => {
  test.each<[string, unknown, string]>([
    ['image_url', URL, 'input_reference'],
    ['imageUrl', { url: URL }, 'input_reference'],
    ['input_image', URL, 'input_reference'],
    ['img_url', URL, 'input_reference'],
    ['start_image', URL, 'input_reference'],
    ['image_urls', [URL], 'input_reference'],
    ['frame_images', [URL], 'input_reference'],
    ['image_tail', URL, 'last_frame'],
    ['tail_image_url', URL, 'last_frame'],
    ['lastFrame', URL, 'last_frame'],
    ['input_references', [URL], 'input_reference'],
    ['subject_reference', [{ type: 'character', image: [URL] }], 'reference_images'],
    ['Images', [URL], 'images'],
    ['video_url', URL, 'content'],
    ['audio', { url: URL }, 'content'],
    ['audio_url', '/ximg/a.mp3?sig=1', 'content'],
    ['aspectRatio', '9:16', 'aspect_ratio'],
    ['ASPECT-RATIO', '9:16', 'aspect_ratio'],
    ['maxAmount', '0.40', 'max_amount'],
    ['max-amount', 0.4, 'max_amount'],
    ['Prompt', 'a cat', 'prompt'],
    ['extra_body', { seconds: 4 }, 'known fields'],
    ['parameters', { duration: 4 }, 'known fields'],
    ['image_base64', 'A'.repeat(5000), 'input_reference'],
    ['picture', 'data:image/png;base64,AAAA', 'input_reference'],
  ])('%s', (name, value, right) => {
    const refusal = refusalOf(() => decode({ ...whole, [name]: value }));

    expect(refusal).toMatchObject({ reason: 'unknown_field', field: name });
    expect(refusal.message).toContain(right);
  });

  test.each<[string, object, string, string]>([
    ['two names of the first frame', { image: URL, first_frame: URL }, 'invalid_content', 'first_frame'],
    ['two names of the last frame', { last_frame: URL, last_frame_image: URL }, 'invalid_content', 'last_frame_image'],
    ['images beside a first frame', { first_frame: URL, images: [URL] }, 'invalid_content', 'images'],
    ['two ratios', { ratio: '16:9', aspect_ratio: '9:16' }, 'invalid_ratio', 'aspect_ratio'],
    ['two lengths', { seconds: '5', duration: 8 }, 'invalid_duration', 'seconds'],
    ['two videos', { n: 2 }, 'invalid_request', 'n'],
    ['an object with another name for its address', { image: { href: URL } }, 'invalid_content', 'image'],
    ['an address with a companion', { image: { url: URL, detail: 'high' } }, 'invalid_content', 'image'],
    ['an empty first frame', { first_frame: '' }, 'invalid_content', 'first_frame'],
    ['the length within metadata', { metadata: { seconds: '10' } }, 'unknown_field', 'metadata.seconds'],
    ['a picture within metadata', { metadata: { imageTail: URL } }, 'unknown_field', 'metadata.imageTail'],
    ['metadata with an inner structure', { metadata: { content: [] } }, 'invalid_request', 'metadata.content'],
    ['a user that is no text', { user: 7 }, 'invalid_request', 'user'],
    [
      'an item with a companion of its address',
      { content: [{ type: 'image_url', image_url: { url: URL, detail: 'high' } }] },
      'unknown_field',
      'content[0].image_url.detail',
    ],
    [
      'an item with another spelling',
      { content: [{ type: 'image_url', imageUrl: { url: URL } }] },
      'invalid_content',
      'content[0].image_url',
    ],
  ])('refuses %s', (_what, over, reason, field) => {
    expect(refusalOf(() => decode({ ...whole, ...over }))).toMatchObject({ reason, field });
  });
});

const OF_EVERY_OBJECT = ['constructor', 'toString', 'hasOwnProperty', 'valueOf', '__proto__'];

test.each(OF_EVERY_OBJECT)('a refusal of the field %s names it as the client wrote it', (name) => {
  for (const [, decode] of DIALECTS) expect(decode(whole).clientField(name)).toBe(name);
});

test.each(OF_EVERY_OBJECT)('a field %s with a structure is refused by its name', (name) => {
  const body = JSON.parse(`{"model":"Alpha-H3","prompt":"a boat","${name}":{"a":1}}`) as object;
  for (const [, decode] of DIALECTS)
    expect(refusalOf(() => decode(body))).toMatchObject({ reason: 'unknown_field', field: name });
});

describe('metadata', () => {
  const refuse = (name: string): unknown =>
    refusalOf(() => decodeCreate({ json: { ...whole, metadata: { [name]: 'x' } } }, context));

  test.each([
    ...['img_url', 'first_frame_url', 'start_image', 'end_image', 'keyframes', 'reference_image', 'input_image'],
    ...[
      'durationSeconds',
      'duration_ms',
      'videoLength',
      'frame_rate',
      'frames_per_second',
      'sampleCount',
      'num_videos',
    ],
    ...['callback_url', 'webhookUrl', 'resolution_name', 'cfg_scale', 'guidance-scale', 'num_inference_steps'],
    ...['negativePrompt', 'enable_audio', 'personGeneration', 'camera_control', 'motion_strength', 'prompt_optimizer'],
    ...[
      'max_ammount',
      'maxAmount',
      'MAX-AMOUNT',
      'budget',
      'max_price',
      'model',
      'aigc_watermark',
      'subject_reference',
    ],
  ])('with %s is refused by its name', (name) => {
    expect(refuse(name)).toMatchObject({ reason: 'unknown_field', field: `metadata.${name}` });
  });

  /** They say who asks, for what, and in which money. */
  const FREE = new Set(['user', 'currency', 'metadata', 'session_id', 'trace', 'provider']);
  const listFields = (schema: Schema): string[] => [
    ...Object.keys((schema['properties'] as object | undefined) ?? {}),
    ...['oneOf', 'anyOf', 'allOf'].flatMap((name) =>
      ((schema[name] as Schema[] | undefined) ?? []).flatMap(listFields),
    ),
  ];
  const fields = new Set(dialects.flatMap(({ creates }) => creates).flatMap(({ body }) => listFields(body)));
  test.each([...fields].filter((name) => !FREE.has(name)))('with the field %s of a dialect is refused', (name) => {
    expect(refuse(name)).toMatchObject({ reason: 'unknown_field', field: `metadata.${name}` });
  });

  test.each([
    ...[
      'title',
      'user_id',
      'order',
      'description',
      'source',
      'text',
      'batch',
      'user',
      'currency',
      'customer',
      'amount',
    ],
    ...['project', 'campaign', 'note', 'reference', 'count', 'topic', 'account_id', 'environment', 'constructor'],
    ...['toString', 'name', 'scene', 'id', 'tag', 'type', 'version', 'language', 'price', 'max_retries', 'trace_id'],
  ])('with %s is that of the client', (name) => {
    const metadata = { [name]: 'x' };
    for (const [, decode] of DIALECTS) expect(decode({ ...whole, metadata }).order.model).toBe('Alpha-H3');
  });
});

describe('/v1/video/generations refuses a field that no generator can obey', () => {
  test.each<[string, object, string]>([
    ['a seed above its range', { seed: 2 ** 32 }, 'seed'],
    ['a negative seed', { seed: -1 }, 'seed'],
    ['a seed with a fraction', { seed: 1.5 }, 'seed'],
    ['a seed in words', { seed: '7' }, 'seed'],
    ['no frames', { fps: 0 }, 'fps'],
    ['bytes in the answer', { response_format: 'b64_json' }, 'response_format'],
  ])('%s', (_what, over, field) => {
    expect(refusalOf(() => decodeGenerations({ json: { ...whole, ...over } }, context))).toMatchObject({
      reason: 'invalid_request',
      field,
    });
  });
});

describe('an unknown name leads to', () => {
  test.each([
    ['max_ammount', 'did you mean max_amount'],
    ['webhok_url', 'did you mean webhook_url'],
    ['promt', 'did you mean prompt'],
    ['budget', 'send max_amount'],
    ['max_price', 'send max_amount'],
    ['video_length', 'send seconds'],
    ['video_url', 'send a video as a video_url item of content'],
    ['duration_ms', 'send seconds'],
    ['num_outputs', 'a create makes one video'],
    ['resolution_name', 'send resolution'],
    ['fps', 'a generator chooses the frame rate'],
    ['callback_url', 'send webhook_url'],
    ['num_videos', 'a create makes one video'],
    ['numberOfVideos', 'a create makes one video'],
    ['video_count', 'a create makes one video'],
    ['n_videos', 'a create makes one video'],
    ['sampleCount', 'a create makes one video'],
    ['batch_size', 'a create makes one video'],
    ['num_images', 'a create makes one video'],
    ['generate_audio', 'the generators of this model choose the sound'],
    ['with_audio', 'the generators of this model choose the sound'],
    ['voice_id', 'the generators of this model choose the sound'],
    ['lipsync', 'the generators of this model choose the sound'],
    ['lip_sync', 'the generators of this model choose the sound'],
    ['narration', 'the generators of this model choose the sound'],
    ['audio_url', 'send sound as an audio_url item'],
    ['voice_url', 'send sound as an audio_url item'],
    ['music', 'send sound as an audio_url item'],
    ['num_inference_steps', 'a generator chooses how it computes'],
    ['iterations', 'a generator chooses how it computes'],
    ['steps', 'a generator chooses how it computes'],
    ['cfg_scale', 'a generator chooses how it computes'],
    ['guidanceScale', 'a generator chooses how it computes'],
    ['motion', 'describe it in prompt'],
    ['camera_motion', 'describe it in prompt'],
    ['personGeneration', 'known fields: '],
    ['resizeMode', 'known fields: '],
    ['account_id', 'known fields: '],
    ['country', 'known fields: '],
    ['discount', 'known fields: '],
    ['topic', 'known fields: '],
    ['invoice', 'known fields: '],
    ['option', 'known fields: '],
    ['transparent', 'known fields: '],
    ['resource', 'known fields: '],
    ['texture', 'known fields: '],
    ['context', 'known fields: '],
    ['framework', 'known fields: '],
    ['bandwidth', 'known fields: '],
    ['costume', 'known fields: '],
    ['actions', 'did you mean action'],
    ['screen_ratio', 'send ratio'],
    ['ratios', 'send ratio'],
    ['videoSize', 'send size'],
    ['video_width', 'send size'],
    ['video_quality', 'send resolution'],
    ['video_duration', 'send seconds'],
    ['frame_count', 'send seconds'],
    ['reference_image_count', 'send reference_images'],
    ['zoom', 'known fields: '],
    ['__proto__', 'known fields: '],
    ['', 'known fields: '],
    ['resolution', 'leave it out, or name a model whose generator takes it'],
  ])('%s: %s', (name, right) => {
    const known = ['prompt', 'seconds', 'resolution', 'webhook_url', 'max_amount', 'action'];

    expect(describeRightField(name, known)).toContain(right);
  });
});
