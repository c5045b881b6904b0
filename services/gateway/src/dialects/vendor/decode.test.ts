import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MediaRole, TaskKind } from '@reelgate/proto/tasks/v1/order';
import { aTask } from '../../../testing/a-task.ts';
import { brief, refusalOf } from '../../../testing/order-summary.ts';
import type { DecodedOrder } from '../dialect.ts';
import { decodeContextIr, decodeGeneration, decodeRegeneration } from './decode.ts';
import { encodeVendorTask } from './encode.ts';

const text = { type: 'text', text: 'a boat' };
const URL = 'https://x.example/m';
const base = { type: 'video_url', role: 'base_video', video_url: { url: URL } };
const generation = { model: 'Alpha-H3', content: [text], duration: 5, resolution: '768P', ratio: '16:9' };
const regeneration = { model: 'Alpha-H3', resolution: '2K', content: [text, base] };
const contextIr = { model: 'Alpha-H3', content: [text], duration: 5, ratio: '16:9' };

type Decode = (body: { readonly json: unknown }) => DecodedOrder;
const routes: Readonly<Record<string, readonly [Decode, object]>> = {
  generation: [decodeGeneration, generation],
  regeneration: [decodeRegeneration, regeneration],
  'context-IR': [decodeContextIr, contextIr],
};

describe('a body is decoded into an order', () => {
  test.each<[string, Decode, object, object]>([
    [
      'generation',
      decodeGeneration,
      generation,
      { kind: 'generation', model: 'Alpha-H3', content: ['a boat'], duration: 5, resolution: '768P', ratio: '16:9' },
    ],
    [
      'a generation without a ratio',
      decodeGeneration,
      { ...generation, ratio: undefined, content: [text, { type: 'image_url', image_url: { url: URL } }] },
      { kind: 'generation', model: 'Alpha-H3', content: ['a boat', { image: URL }], duration: 5, resolution: '768P' },
    ],
    [
      'a generation with a base_video, which its rules refuse',
      decodeGeneration,
      { ...generation, content: [text, base] },
      {
        kind: 'generation',
        model: 'Alpha-H3',
        content: ['a boat', { video: URL, role: 'base_video' }],
        duration: 5,
        resolution: '768P',
        ratio: '16:9',
      },
    ],
    [
      'regeneration by a source',
      decodeRegeneration,
      { model: 'Alpha-H3', resolution: '2K', source_task_id: 'task_1', aigc_watermark: true },
      {
        kind: 'regeneration',
        model: 'Alpha-H3',
        content: [],
        resolution: '2K',
        sourceTaskId: 'task_1',
        aigcWatermark: true,
      },
    ],
    [
      'regeneration by content',
      decodeRegeneration,
      { ...regeneration, source_task_id: '' },
      {
        kind: 'regeneration',
        model: 'Alpha-H3',
        content: ['a boat', { video: URL, role: 'base_video' }],
        resolution: '2K',
      },
    ],
    [
      'both modes, which its rules refuse',
      decodeRegeneration,
      { ...regeneration, source_task_id: 'task_1' },
      {
        kind: 'regeneration',
        model: 'Alpha-H3',
        content: ['a boat', { video: URL, role: 'base_video' }],
        resolution: '2K',
        sourceTaskId: 'task_1',
      },
    ],
    [
      'context-IR, its callback_url byte for byte',
      decodeContextIr,
      { ...contextIr, callback_url: 'HTTPS://U:p%20@CB.Example:443/a/../b?ü=1&e=😀#f' },
      {
        kind: 'context_ir',
        model: 'Alpha-H3',
        content: ['a boat'],
        duration: 5,
        ratio: '16:9',
        callbackUrl: 'HTTPS://U:p%20@CB.Example:443/a/../b?ü=1&e=😀#f',
      },
    ],
  ])('%s', (_what, decode, json, order) => {
    expect(brief(decode({ json }).order)).toEqual(order);
  });
});

describe.each(Object.entries(routes))('a %s body', (kind, [decode, whole]) => {
  const own = Object.keys({
    ...whole,
    ...(kind === 'regeneration' ? { source_task_id: 1, aigc_watermark: 1 } : {}),
    ...(kind === 'context-IR' ? { callback_url: 1 } : {}),
  });
  const foreign = [
    'prompt',
    'seconds',
    'size',
    'source_task_id',
    'action',
    'metadata',
    'callback_url',
    'task_id',
    'task_type',
    'type',
    'resolution',
    'ratio',
    'duration',
    'aigc_watermark',
    'extra',
    'user',
    'foo',
    'Model',
    '__proto__',
  ].filter((field) => !own.includes(field));

  test.each(foreign)('refuses %s with any value', (field) => {
    for (const value of [null, '', 'x', 5, {}, false]) {
      const json = JSON.parse(
        JSON.stringify(whole).replace(/\}$/, `,${JSON.stringify(field)}:${JSON.stringify(value)}}`),
      ) as unknown;
      expect(refusalOf(() => decode({ json }))).toMatchObject({ reason: 'unknown_field', field });
    }
  });
  test.each([[], 'x', 5, null, undefined])('is an object, not %j', (json) => {
    expect(refusalOf(() => decode({ json })).reason).toBe('invalid_request');
  });
  test('is never a form', () => {
    expect(refusalOf(() => decode({ form: { fields: [], files: [] } } as never)).reason).toBe('invalid_request');
  });
  test.each(
    Object.keys(whole).filter((field) => field !== 'ratio' && !(kind === 'regeneration' && field === 'content')),
  )('needs %s', (field) => {
    expect(refusalOf(() => decode({ json: { ...whole, [field]: undefined } })).field).toBe(field);
  });
});

describe('a wrong type is refused with the name of the field', () => {
  test.each<[string, Decode, object, string, string]>([
    ...[null, 3, ['Alpha-H3']].map((model): [string, Decode, object, string, string] => [
      'model',
      decodeContextIr,
      { ...contextIr, model },
      'missing_model',
      'model',
    ]),
    ...[4.5, '5', null, true, [5], 1e300, 1e21, -1e10].map((duration): [string, Decode, object, string, string] => [
      'duration',
      decodeGeneration,
      { ...generation, duration },
      'invalid_duration',
      'duration',
    ]),
    ...[null, 768].map((resolution): [string, Decode, object, string, string] => [
      'resolution',
      decodeGeneration,
      { ...generation, resolution },
      'invalid_resolution',
      'resolution',
    ]),
    ...[null, 1.7].map((ratio): [string, Decode, object, string, string] => [
      'ratio',
      decodeContextIr,
      { ...contextIr, ratio },
      'invalid_ratio',
      'ratio',
    ]),
    ...[null, {}, 'boat'].map((content): [string, Decode, object, string, string] => [
      'content',
      decodeContextIr,
      { ...contextIr, content },
      'invalid_content',
      'content',
    ]),
    ['an item', decodeGeneration, { ...generation, content: [text, null] }, 'invalid_content', 'content[1]'],
    ['a text', decodeContextIr, { ...contextIr, content: [{ type: 'text' }] }, 'invalid_content', 'content[0].text'],
    [
      'an image',
      decodeGeneration,
      { ...generation, content: [text, { type: 'image_url', image_url: URL }] },
      'invalid_content',
      'content[1].image_url',
    ],
    [
      'a role',
      decodeGeneration,
      { ...generation, content: [text, { type: 'image_url', role: 'reference_video', image_url: { url: URL } }] },
      'invalid_content',
      'content[1].role',
    ],
    [
      'the watermark',
      decodeRegeneration,
      { ...regeneration, aigc_watermark: 'true' },
      'invalid_request',
      'aigc_watermark',
    ],
    ['the callback', decodeContextIr, { ...contextIr, callback_url: 5 }, 'invalid_request', 'callback_url'],
  ])('%s', (_what, decode, json, reason, field) => {
    expect(refusalOf(() => decode({ json }))).toMatchObject({ reason, field });
  });
});

test('a decoded and encoded body is what the client wrote', () => {
  const url = fc.webUrl();
  const item = fc.oneof(
    fc.record({ type: fc.constant('text'), text: fc.string({ unit: 'grapheme' }) }),
    fc.record({
      type: fc.constant('image_url'),
      role: fc.constantFrom('first_frame', 'last_frame', 'reference_image'),
      image_url: fc.record({ url }),
    }),
    fc.record({
      type: fc.constant('video_url'),
      role: fc.constantFrom('reference_video', 'base_video'),
      video_url: fc.record({ url }),
    }),
    fc.record({ type: fc.constant('audio_url'), role: fc.constant('reference_audio'), audio_url: fc.record({ url }) }),
  );
  const body = fc.record({
    model: fc.string(),
    content: fc.array(item, { maxLength: 6 }),
    duration: fc.integer({ min: 1, max: 1000 }),
    resolution: fc.constantFrom('768P', '2K'),
    ratio: fc.constantFrom('16:9', 'adaptive'),
  });
  fc.assert(
    fc.property(body, (json) => {
      const { order } = decodeGeneration({ json });
      const { model, duration, resolution, ratio } = json;

      expect(
        encodeVendorTask(aTask({ order, seconds: duration }), {
          toVideoUrl: () => undefined,
          toAddress: (path) => path,
          toPublicPath: (path) => path,
        }),
      ).toMatchObject({
        model,
        duration,
        resolution,
        ratio,
        task_type: 'generation',
      });
      expect(order.kind).toBe(TaskKind.GENERATION);
      expect(
        order.content.map(({ item: read }) =>
          read.case === 'media' ? [MediaRole[read.value.role].toLowerCase(), read.value.url] : read.value,
        ),
      ).toEqual(
        json.content.map((written) => {
          if (written.type === 'text') return (written as { text: string }).text;
          return [
            (written as { role: string }).role,
            (written as unknown as Record<string, { url: string }>)[written.type]!.url,
          ];
        }),
      );
    }),
  );
});
