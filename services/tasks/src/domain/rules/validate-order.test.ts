import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  ALPHA_MODEL,
  MODELS,
  aContextIr,
  aRegeneration,
  aRegenerationByContent,
  aSound,
  aText,
  aVideo,
  anImage,
  anOrder,
} from '../../../testing/orders.ts';
import type { Fault } from '../fault.ts';
import type { ContentItem, MediaItem, Order } from '../order.ts';
import { validateOrder } from './validate-order.ts';

const judge = (order: Order): Fault | undefined => validateOrder(order, MODELS, ['*']);
const several = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
/** One character of two UTF-16 units. */
const ASTRAL = '😀';
const withMedia = (...media: readonly MediaItem[]): ContentItem[] => [aText(), ...media];

type Refused = readonly [what: string, order: Order, reason: string, field: string, message: RegExp];

describe('a valid order', () => {
  test.each<[string, Order]>([
    ['text alone with a concrete ratio', anOrder()],
    ['the shortest video', anOrder({ duration: 4 })],
    ['the longest video', anOrder({ duration: 15 })],
    ['2K', anOrder({ resolution: '2K' })],
    ['several texts', anOrder({ content: [aText(), aText('and a hare')] })],
    ['an empty text beside another text', anOrder({ content: [aText(' '), aText()] })],
    ['a single image without a role', anOrder({ content: withMedia(anImage()) })],
    ['a last frame alone', anOrder({ content: withMedia(anImage('last_frame')) })],
    ['a first and a last frame', anOrder({ content: withMedia(anImage('first_frame'), anImage('last_frame')) })],
    ['frames with a ratio, which is ignored', anOrder({ content: withMedia(anImage('first_frame')), ratio: '9:16' })],
    ['media with the ratio adaptive', anOrder({ content: withMedia(anImage('reference_image')), ratio: 'adaptive' })],
    ['media without a ratio', anOrder({ content: withMedia(anImage('reference_image')), ratio: undefined })],
    [
      'twelve media',
      anOrder({
        content: withMedia(...several(9, anImage('reference_image')), ...several(3, aVideo('reference_video'))),
      }),
    ],
    ['sound beside an image', anOrder({ content: withMedia(anImage('reference_image'), aSound('reference_audio')) })],
    ['sound beside a video', anOrder({ content: withMedia(aVideo('reference_video'), aSound('reference_audio')) })],
    [
      'another model within its own ranges',
      anOrder({ model: 'Other-V1', duration: 2, resolution: '480P', ratio: '16:9' }),
    ],
    ['a regeneration of a task', aRegeneration()],
    ['a regeneration of a base video', aRegenerationByContent()],
    [
      'a regeneration that keeps its frames',
      aRegenerationByContent(withMedia(aVideo('base_video'), anImage('first_frame'), anImage('last_frame'))),
    ],
    [
      'a regeneration that keeps its references',
      aRegenerationByContent(withMedia(aVideo('base_video'), anImage('reference_image'), aSound('reference_audio'))),
    ],
    ['a watermark on a regeneration', aRegeneration({ aigcWatermark: true })],
    ['context-IR of text', aContextIr()],
    [
      'context-IR of a frame without a ratio',
      aContextIr({ content: withMedia(anImage('first_frame')), ratio: undefined }),
    ],
    [
      'context-IR of references with the ratio adaptive',
      aContextIr({ content: withMedia(anImage('reference_image')), ratio: 'adaptive' }),
    ],
    ['context-IR with a callback', aContextIr({ callbackUrl: 'https://client.example/done' })],
  ])('%s passes', (_what, order) => {
    expect(judge(order)).toBeUndefined();
  });

  test.each(ALPHA_MODEL.ratios.filter((ratio) => ratio !== 'adaptive'))('text alone may have the ratio %s', (ratio) => {
    expect(judge(anOrder({ ratio }))).toBeUndefined();
  });
});

/** Rules of content that generation and context-IR share. */
const shared = (aKind: (changes: Partial<Order>) => Order): readonly Refused[] => [
  ['a missing content', aKind({ content: [] }), 'invalid_content', 'content', /at least one/],
  ['a missing text', aKind({ content: [anImage('first_frame')] }), 'invalid_content', 'content', /text item/],
  ['an empty text alone', aKind({ content: [aText('')] }), 'invalid_content', 'content', /text item/],
  ['white space only', aKind({ content: [aText(' \n\t\u3000')] }), 'invalid_content', 'content', /text item/],
  [
    'a text of 7001 code points',
    aKind({ content: [aText('x'.repeat(7001))] }),
    'invalid_content',
    'content[0].text',
    /at most 7000 .* 7001/,
  ],
  [
    'a text of 7001 astral code points',
    aKind({ content: [aText(), aText(ASTRAL.repeat(7001))] }),
    'invalid_content',
    'content[1].text',
    /at most 7000 .* 7001/,
  ],
  [
    'two images without roles',
    aKind({ content: withMedia(anImage(), anImage()) }),
    'invalid_content',
    'content[1].role',
    /required/,
  ],
  [
    'two images of which one has no role',
    aKind({ content: withMedia(anImage('first_frame'), anImage()) }),
    'invalid_content',
    'content[2].role',
    /required/,
  ],
  [
    'a video without a role',
    aKind({ content: withMedia(aVideo()) }),
    'invalid_content',
    'content[1].role',
    /required .*reference_video/,
  ],
  [
    'a sound without a role',
    aKind({ content: withMedia(aSound()) }),
    'invalid_content',
    'content[1].role',
    /required .*reference_audio/,
  ],
  [
    'a base video',
    aKind({ content: withMedia(aVideo('base_video')) }),
    'invalid_content',
    'content[1].role',
    /cannot be base_video/,
  ],
  [
    'a video as a first frame',
    aKind({ content: withMedia(aVideo('first_frame')) }),
    'invalid_content',
    'content[1].role',
    /video_url/,
  ],
  [
    'an image as a reference video',
    aKind({ content: withMedia(anImage('reference_video')) }),
    'invalid_content',
    'content[1].role',
    /image_url/,
  ],
  [
    'two first frames',
    aKind({ content: withMedia(anImage('first_frame'), anImage('first_frame')) }),
    'invalid_content',
    'content',
    /at most 1 first_frame/,
  ],
  [
    'two last frames',
    aKind({ content: withMedia(anImage('last_frame'), anImage('last_frame')) }),
    'invalid_content',
    'content',
    /at most 1 last_frame/,
  ],
  [
    'ten reference images',
    aKind({ content: withMedia(...several(10, anImage('reference_image'))) }),
    'invalid_content',
    'content',
    /at most 9 reference_image/,
  ],
  [
    'four reference videos',
    aKind({ content: withMedia(...several(4, aVideo('reference_video'))) }),
    'invalid_content',
    'content',
    /at most 3 reference_video/,
  ],
  [
    'four reference sounds',
    aKind({ content: withMedia(anImage('reference_image'), ...several(4, aSound('reference_audio'))) }),
    'invalid_content',
    'content',
    /at most 3 reference_audio/,
  ],
  [
    'thirteen media',
    aKind({
      content: withMedia(
        ...several(9, anImage('reference_image')),
        ...several(3, aVideo('reference_video')),
        aSound('reference_audio'),
      ),
    }),
    'invalid_content',
    'content',
    /at most 12 media items/,
  ],
  [
    'a first frame beside a reference',
    aKind({ content: withMedia(anImage('first_frame'), anImage('reference_image')) }),
    'invalid_content',
    'content',
    /must not mix/,
  ],
  [
    'a last frame beside a reference video',
    aKind({ content: withMedia(anImage('last_frame'), aVideo('reference_video')) }),
    'invalid_content',
    'content',
    /must not mix/,
  ],
  [
    'an image that is a first frame by default, beside a reference',
    aKind({ content: withMedia(anImage(), aVideo('reference_video')) }),
    'invalid_content',
    'content',
    /must not mix/,
  ],
  [
    'sound as the only reference',
    aKind({ content: withMedia(aSound('reference_audio')) }),
    'invalid_content',
    'content',
    /with reference_audio/,
  ],
  [
    'a media item without a URL',
    aKind({ content: withMedia({ media: 'image', role: 'first_frame' }) }),
    'invalid_content',
    'content[1].image_url',
    /the URL/,
  ],
  ['a missing duration', aKind({ duration: undefined }), 'invalid_duration', 'duration', /required.* 4 to 15/],
  ['a duration of 3', aKind({ duration: 3 }), 'invalid_duration', 'duration', /4 to 15.* 3/],
  ['a duration of 16', aKind({ duration: 16 }), 'invalid_duration', 'duration', /4 to 15.* 16/],
  ['text alone without a ratio', aKind({ ratio: undefined }), 'invalid_ratio', 'ratio', /text-only content/],
  ['text alone with the ratio adaptive', aKind({ ratio: 'adaptive' }), 'invalid_ratio', 'ratio', /cannot be adaptive/],
  ['text alone with an unknown ratio', aKind({ ratio: '2:1' }), 'invalid_ratio', 'ratio', /must be one of 21:9/],
  ['an empty ratio', aKind({ ratio: '' }), 'invalid_ratio', 'ratio', /must be one of/],
  [
    'media with an unknown ratio',
    aKind({ content: withMedia(anImage('first_frame')), ratio: '2:1' }),
    'invalid_ratio',
    'ratio',
    /adaptive/,
  ],
];

describe('a generation', () => {
  test.each<Refused>([
    ...shared(anOrder),
    ['no model', anOrder({ model: '' }), 'missing_model', 'model', /required/],
    ['a source task', anOrder({ sourceTaskId: 'task_1' }), 'conflicting_source', 'source_task_id', /regeneration/],
    ['no resolution', anOrder({ resolution: undefined }), 'invalid_resolution', 'resolution', /use one of 768P, 2K/],
    ['an empty resolution', anOrder({ resolution: '' }), 'invalid_resolution', 'resolution', /required/],
    [
      'an unknown resolution',
      anOrder({ resolution: '1080P' }),
      'invalid_resolution',
      'resolution',
      /768P, 2K .*"1080P"/,
    ],
    ['a resolution in lower case', anOrder({ resolution: '2k' }), 'invalid_resolution', 'resolution', /"2k"/],
    [
      'a duration of another model',
      anOrder({ model: 'Other-V1', duration: 7, resolution: '480P' }),
      'invalid_duration',
      'duration',
      /2 to 6 for Other-V1/,
    ],
    [
      'a resolution of another model',
      anOrder({ model: 'Other-V1', resolution: '768P' }),
      'invalid_resolution',
      'resolution',
      /480P for Other-V1/,
    ],
    [
      'a ratio of another model',
      anOrder({ model: 'Other-V1', resolution: '480P', ratio: '9:16' }),
      'invalid_ratio',
      'ratio',
      /16:9 for Other-V1/,
    ],
  ])('with %s is refused', (_what, order, reason, field, message) => {
    expect(judge(order)).toEqual({ reason, field, message: expect.stringMatching(message) });
  });
});

describe('context-IR', () => {
  test.each<Refused>([
    ...shared(aContextIr),
    ['no model', aContextIr({ model: '' }), 'missing_model', 'model', /required/],
    ['another model', aContextIr({ model: 'Other-V1' }), 'invalid_request', 'model', /exactly Alpha-H3/],
    ['a model in lower case', aContextIr({ model: 'alpha-h3' }), 'invalid_request', 'model', /exactly Alpha-H3/],
    ['a resolution', aContextIr({ resolution: '768P' }), 'unknown_field', 'resolution', /context-IR/],
    ['a watermark', aContextIr({ aigcWatermark: false }), 'unknown_field', 'aigc_watermark', /context-IR/],
    ['a source task', aContextIr({ sourceTaskId: 'task_1' }), 'unknown_field', 'source_task_id', /context-IR/],
  ])('with %s is refused', (_what, order, reason, field, message) => {
    expect(judge(order)).toEqual({ reason, field, message: expect.stringMatching(message) });
  });

  test('keeps to the range of the contract, not to that of the model', () => {
    const models = new Map([['Alpha-H3', { ...ALPHA_MODEL, durationMin: 1, durationMax: 60 }]]);

    expect(validateOrder(aContextIr({ duration: 16 }), models, ['*'])).toMatchObject({ reason: 'invalid_duration' });
    expect(validateOrder(aContextIr({ duration: 3 }), models, ['*'])).toMatchObject({ reason: 'invalid_duration' });
  });
});

describe('a regeneration', () => {
  const base = aVideo('base_video');

  test.each<Refused>([
    ['no model', aRegeneration({ model: '' }), 'missing_model', 'model', /required/],
    ['another model', aRegeneration({ model: 'Other-V1' }), 'invalid_request', 'model', /exactly Alpha-H3/],
    ['a model in lower case', aRegeneration({ model: 'alpha-h3' }), 'invalid_request', 'model', /exactly Alpha-H3/],
    [
      'the name of the model upstream',
      aRegeneration({ model: 'MiniMax-H3' }),
      'invalid_request',
      'model',
      /exactly Alpha-H3/,
    ],
    [
      'a model with a trailing space',
      aRegeneration({ model: 'Alpha-H3 ' }),
      'invalid_request',
      'model',
      /exactly Alpha-H3/,
    ],
    ['no resolution', aRegeneration({ resolution: undefined }), 'invalid_resolution', 'resolution', /must be 2K/],
    ['another resolution', aRegeneration({ resolution: '768P' }), 'invalid_resolution', 'resolution', /must be 2K/],
    [
      'a resolution in lower case',
      aRegeneration({ resolution: '2k' }),
      'invalid_resolution',
      'resolution',
      /must be 2K/,
    ],
    [
      'a missing input mode',
      aRegeneration({ sourceTaskId: undefined }),
      'invalid_request',
      'source_task_id',
      /unless content/,
    ],
    ['text alone', aRegenerationByContent([aText()]), 'invalid_request', 'source_task_id', /unless content/],
    [
      'a video without a role',
      aRegenerationByContent(withMedia(aVideo())),
      'invalid_request',
      'source_task_id',
      /unless content/,
    ],
    [
      'a reference video as base video',
      aRegenerationByContent(withMedia(aVideo('reference_video'))),
      'invalid_request',
      'source_task_id',
      /unless content/,
    ],
    [
      'a source task and a base video',
      aRegeneration({ content: withMedia(base) }),
      'conflicting_source',
      'source_task_id',
      /must not both/,
    ],
    [
      'a source task and a text',
      aRegeneration({ content: [aText()] }),
      'conflicting_source',
      'source_task_id',
      /must not both/,
    ],
    [
      'two base videos',
      aRegenerationByContent(withMedia(base, base)),
      'conflicting_source',
      'content',
      /exactly one base_video item; it holds 2/,
    ],
    [
      'an empty base video',
      aRegenerationByContent(withMedia({ media: 'video', role: 'base_video' })),
      'invalid_content',
      'content[1].video_url',
      /the URL/,
    ],
    [
      'an image as base video',
      aRegenerationByContent(withMedia(anImage('base_video'))),
      'invalid_content',
      'content[1].role',
      /image_url/,
    ],
    [
      'a base video without the final prompt',
      aRegenerationByContent([base]),
      'invalid_content',
      'content',
      /text item/,
    ],
    [
      'a text of 40 001 code points',
      aRegenerationByContent([aText('x'.repeat(40_001)), base]),
      'invalid_content',
      'content[0].text',
      /at most 40000 .* 40001/,
    ],
    [
      'a text of 40 001 astral code points',
      aRegenerationByContent([aText(ASTRAL.repeat(40_001)), base]),
      'invalid_content',
      'content[0].text',
      /40001/,
    ],
  ])('with %s is refused', (_what, order, reason, field, message) => {
    expect(judge(order)).toEqual({ reason, field, message: expect.stringMatching(message) });
  });
});

describe('the length of a text', () => {
  test.each<[string, Order]>([
    ['7000 on generation', anOrder({ content: [aText(ASTRAL.repeat(7000))] })],
    ['7000 on context-IR', aContextIr({ content: [aText(ASTRAL.repeat(7000))] })],
    ['40 000 on regeneration', aRegenerationByContent([aText(ASTRAL.repeat(40_000)), aVideo('base_video')])],
    ['7001 on regeneration', aRegenerationByContent([aText('x'.repeat(7001)), aVideo('base_video')])],
    ['7000 in each of two items', anOrder({ content: [aText('x'.repeat(7000)), aText('y'.repeat(7000))] })],
  ])('is counted in code points: %s are accepted', (_what, order) => {
    expect(judge(order)).toBeUndefined();
  });
});

describe('a model that is hidden from the caller', () => {
  const texts = fc.constantFrom('', ' ', 'A fox', 'x'.repeat(7001)).map(aText);
  const roles = fc.option(
    fc.constantFrom('first_frame', 'last_frame', 'reference_image', 'reference_video', 'reference_audio', 'base_video'),
    { nil: undefined },
  );
  const media = fc.record({
    media: fc.constantFrom('image', 'video', 'audio'),
    role: roles,
    url: fc.constant('https://files.example/a'),
  }) as fc.Arbitrary<MediaItem>;
  const orders: fc.Arbitrary<Order> = fc.record({
    kind: fc.constantFrom('generation', 'regeneration', 'context_ir'),
    model: fc.constant('Alpha-H3'),
    content: fc.array(fc.oneof<fc.Arbitrary<ContentItem>[]>(texts, media), { maxLength: 4 }),
    duration: fc.option(fc.integer({ min: -1, max: 20 }), { nil: undefined }),
    resolution: fc.constantFrom(undefined, '', '768P', '2K', '4K'),
    ratio: fc.constantFrom(undefined, '', 'adaptive', '16:9', '2:1'),
    sourceTaskId: fc.constantFrom(undefined, 'task_1'),
  });

  test('is treated as a model that does not exist', () => {
    fc.assert(
      fc.property(orders, (order) => {
        expect(validateOrder(order, MODELS, ['Other-V1'])).toEqual(validateOrder(order, new Map(), ['*']));
      }),
    );
  });

  test('has no ranges', () => {
    expect(
      validateOrder(anOrder({ duration: 99, resolution: '8K', ratio: '2:1' }), MODELS, ['Other-V1']),
    ).toBeUndefined();
  });

  test('is refused by the rules of every model', () => {
    expect(validateOrder(anOrder({ duration: undefined }), MODELS, [])).toMatchObject({ reason: 'invalid_duration' });
    expect(validateOrder(anOrder({ content: [] }), MODELS, [])).toMatchObject({ reason: 'invalid_content' });
    expect(validateOrder(aContextIr({ duration: 16 }), MODELS, [])).toMatchObject({ reason: 'invalid_duration' });
    expect(validateOrder(aRegeneration({ resolution: '768P' }), MODELS, [])).toMatchObject({
      reason: 'invalid_resolution',
    });
  });
});

test('every fault names its field and what would be right, and names nothing upstream', () => {
  const faults = [...shared(anOrder), ...shared(aContextIr)].map(([, order]) => judge(order));

  for (const fault of faults) {
    expect(fault?.field).toMatch(/^[a-z]/);
    expect(fault?.message).not.toMatch(/MiniMax|channel|upstream/);
  }
});
