import { describe, expect, test } from '@jest/globals';
import { refusalOf } from '../../../testing/order-summary.ts';
import { decodeCreate } from '../openai/decode.ts';
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
    ['generate_audio', 'send sound as an audio_url item'],
    ['fps', 'a generator chooses the frame rate'],
    ['callback_url', 'send webhook_url'],
    ['zoom', 'known fields: '],
    ['__proto__', 'known fields: '],
    ['', 'known fields: '],
    ['resolution', 'leave it out, or name a model whose generator takes it'],
  ])('%s: %s', (name, right) => {
    const known = ['prompt', 'seconds', 'resolution', 'webhook_url', 'max_amount'];

    expect(describeRightField(name, known)).toContain(right);
  });
});
