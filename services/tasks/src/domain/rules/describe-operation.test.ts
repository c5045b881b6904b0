import { expect, test } from '@jest/globals';
import { ALPHA } from '../model.ts';
import type { Model } from '../model.ts';
import type { ContentItem, Kind, MediaItem, Order, Role } from '../order.ts';
import type { ContentBounds } from './content.ts';
import { describeOperation, validateOrder } from './validate-order.ts';
import type { OperationLimits } from './validate-order.ts';
import { listMediaRatios } from './ranges.ts';

const RATIOS = ['adaptive', '16:9', '9:16'];
const MODELS: readonly Model[] = [
  { id: ALPHA, durationMin: 4, durationMax: 15, resolutions: ['768P', '2K'], ratios: RATIOS },
  { id: 'other', durationMin: 1, durationMax: 3, resolutions: ['480p'], ratios: ['1:1'] },
  { id: 'adaptive alone', durationMin: 6, durationMax: 6, resolutions: ['480p'], ratios: ['adaptive'] },
];
const BY_ID = new Map(MODELS.map((model) => [model.id, model]));
const MEDIA: Readonly<Record<Role, MediaItem['media']>> = {
  first_frame: 'image',
  last_frame: 'image',
  reference_image: 'image',
  reference_video: 'video',
  reference_audio: 'audio',
  base_video: 'video',
};
const FRAMES: readonly Role[] = ['first_frame', 'last_frame'];

const refuse = (order: Order) => validateOrder(order, BY_ID, ['*']);
const newItems = (role: Role, count: number): ContentItem[] =>
  Array.from({ length: count }, () => ({ media: MEDIA[role], role, url: 'https://example.com/a' }));

/** Every choice of no, one and all media of each role that the bounds allow. */
function* listMediaSets({ roles, mediaMax, framesExcludeReferences, audioNeedsPicture }: ContentBounds) {
  const counts = (max: number): readonly number[] => [...new Set([0, 1, max])];
  const sets = roles.reduce<readonly ContentItem[][]>(
    (all, { role, max }) => all.flatMap((items) => counts(max).map((count) => [...items, ...newItems(role, count)])),
    [[]],
  );
  for (const items of sets) {
    const used = new Set(items.map((item) => (item as MediaItem).role ?? 'first_frame'));
    const isFramed = FRAMES.some((role) => used.has(role));
    const hasReference = [...used].some((role) => role.startsWith('reference_'));
    const hasPicture = used.has('reference_image') || used.has('reference_video') || used.has('base_video');
    if (items.length > mediaMax || (framesExcludeReferences && isFramed && hasReference)) continue;
    if (audioNeedsPicture && used.has('reference_audio') && !hasPicture) continue;
    yield items;
  }
}

/** Every order at the bounds of an operation: lengths x resolutions x ratios x media. */
function* listOrders(model: Model, { kind, resolutions, content }: OperationLimits): Generator<Order> {
  const text = { text: 'é'.repeat(content.textMax) };
  for (const media of listMediaSets(content)) {
    const shared = { kind, model: model.id, content: [text, ...media] };
    if (kind !== 'regeneration') yield* listFramed(model, { ...shared, resolutions, hasMedia: media.length > 0 });
    else if (media.some((item) => (item as MediaItem).role === 'base_video'))
      yield* resolutions.map((resolution) => ({ ...shared, resolution }));
  }
}

/** The order with each length, ratio and resolution. */
function listFramed(
  { durationMin, durationMax, ratios }: Model,
  { resolutions, hasMedia, ...order }: Order & { readonly resolutions: readonly string[]; readonly hasMedia: boolean },
): Order[] {
  const lengths = Array.from({ length: durationMax - durationMin + 1 }, (_, at) => durationMin + at);
  return lengths.flatMap((duration) =>
    ratios
      .filter((ratio) => hasMedia || !listMediaRatios(ratios).includes(ratio))
      .flatMap((ratio) =>
        (order.kind === 'generation' ? resolutions : [undefined]).map((resolution) => ({
          ...order,
          duration,
          ratio,
          resolution,
        })),
      ),
  );
}

const USES = MODELS.flatMap((model) =>
  (['generation', 'regeneration', 'context_ir'] as const satisfies readonly Kind[]).flatMap((kind) => {
    const limits = describeOperation(kind, model);
    return limits === undefined ? [] : [[model.id, kind, model, limits] as const];
  }),
);

test('only Alpha-H3 has the kinds that the contract fixes to it', () => {
  expect(USES.map(([id, kind]) => `${id} ${kind}`)).toEqual([
    'Alpha-H3 generation',
    'Alpha-H3 regeneration',
    'Alpha-H3 context_ir',
    'other generation',
    'adaptive alone generation',
  ]);
});

test.each(USES)('no order within the limits of %s at %s is refused', (_id, _kind, model, limits) => {
  let count = 0;
  for (const order of listOrders(model, limits)) {
    count += 1;
    const fault = refuse(order);
    if (fault !== undefined) expect({ order, fault }).toBeUndefined();
  }
  expect(count).toBeGreaterThan(10);
});

test.each(USES.filter(([, kind]) => kind === 'generation'))('the limits of %s are the last that hold', (id, kind) => {
  const model = BY_ID.get(id)!;
  const { content, resolutions } = describeOperation(kind, model)!;
  const order = (...items: ContentItem[]): Order => ({
    kind,
    model: id,
    duration: model.durationMin,
    resolution: resolutions[0],
    ratio: model.ratios.at(-1),
    content: [{ text: 'a boat' }, ...items],
  });
  const image = newItems('reference_image', 1);

  for (const { role, max } of content.roles)
    expect(refuse(order(...(role === 'reference_audio' ? image : []), ...newItems(role, max + 1)))).toBeDefined();
  expect(refuse({ ...order(), content: [{ text: 'é'.repeat(content.textMax + 1) }] })).toBeDefined();
  expect(refuse({ ...order(), duration: model.durationMax + 1 })).toBeDefined();
  expect(refuse(order(...newItems('first_frame', 1), ...image))).toBeDefined();
  expect(refuse(order(...newItems('reference_audio', 1)))).toBeDefined();
  if (listMediaRatios(model.ratios).length > 0)
    expect(refuse({ ...order(), ratio: listMediaRatios(model.ratios)[0] })).toBeDefined();
});
