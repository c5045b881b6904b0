import fc from 'fast-check';
import type { ContentItem, Kind, Order } from '../src/domain/order.ts';

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const items: fc.Arbitrary<ContentItem> = fc.oneof(
  fc.record({ text: fc.string({ unit: 'grapheme' }) }),
  fc.record({
    media: fc.constantFrom('image', 'video', 'audio'),
    role: optional(
      fc.constantFrom(
        'first_frame',
        'last_frame',
        'reference_image',
        'reference_video',
        'reference_audio',
        'base_video',
      ),
    ),
    url: optional(words),
    object: optional(words),
    declaredType: optional(words),
  }) as fc.Arbitrary<ContentItem>,
);
/** Every order that the wire can carry, valid or not. */
export const anyOrder = fc.record({
  kind: fc.constantFrom<Kind[]>('generation', 'regeneration', 'context_ir'),
  model: fc.string(),
  content: fc.array(items, { maxLength: 5 }),
  duration: optional(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
  resolution: optional(fc.string()),
  ratio: optional(fc.string()),
  sourceTaskId: optional(words),
  aigcWatermark: optional(fc.boolean()),
  callbackUrl: optional(fc.string()),
  size: optional(fc.string()),
  extraJson: optional(fc.dictionary(fc.string(), fc.jsonValue()).map((extra) => JSON.stringify(extra))),
}) as fc.Arbitrary<Order>;
