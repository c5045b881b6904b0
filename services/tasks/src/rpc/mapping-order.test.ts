import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MediaKind, MediaRole, OrderSchema, TaskKind } from '@reelgate/proto/tasks/v1/order';
import { anyOrder } from '../../testing/any-order.ts';
import { anOrder, aText, anImage } from '../../testing/orders.ts';
import { KINDS, fromWireOrder, nameOf, toWireOrder } from './mapping-order.ts';

/** A number that no enum has. */
const UNHEARD_OF = 77 as never;

test('an order is unchanged by the wire, and has no undefined field', () => {
  fc.assert(
    fc.property(anyOrder, (order) => {
      const wire = create(OrderSchema, toWireOrder(order));
      const back = fromWireOrder(fromBinary(OrderSchema, toBinary(OrderSchema, wire)));

      expect(back).toEqual(order);
      expect(JSON.parse(JSON.stringify(back))).toStrictEqual(back);
    }),
  );
});

test('an absent field differs from an empty one and from zero', () => {
  const bare = fromWireOrder(create(OrderSchema, { kind: TaskKind.GENERATION, model: 'Alpha-H3' }));

  expect(Object.keys(bare).toSorted()).toEqual(['content', 'kind', 'model']);
  expect(
    fromWireOrder(create(OrderSchema, { kind: TaskKind.GENERATION, duration: 0, resolution: '', ratio: '' })),
  ).toMatchObject({ duration: 0, resolution: '', ratio: '' });
});

describe('an invalid order', () => {
  test.each([
    ['no message', undefined],
    ['an order without a kind', create(OrderSchema, {})],
    ['an order of an unknown kind', create(OrderSchema, { kind: UNHEARD_OF })],
  ])('%s is refused', (_what, wire) => {
    expect(() => fromWireOrder(wire)).toThrow(
      expect.objectContaining({ kind: 'invalid', reason: 'invalid_request', field: 'order.kind' }),
    );
  });

  test.each([
    ['an empty item', {}],
    ['a media item without a kind', { item: { case: 'media' as const, value: { url: 'https://a.example' } } }],
    ['a media item of an unknown kind', { item: { case: 'media' as const, value: { kind: UNHEARD_OF } } }],
  ])('%s is refused by its position', (_what, item) => {
    const content = [{ item: { case: 'text' as const, value: 'a fox' } }, item];

    expect(() => fromWireOrder(create(OrderSchema, { kind: TaskKind.GENERATION, content }))).toThrow(
      expect.objectContaining({ reason: 'invalid_content', field: 'content[1]' }),
    );
  });

  test.each(['no JSON', '[]', 'null', '"a text"', '{'])(
    'with unknown fields that are not a JSON object is refused: %s',
    (extraJson) => {
      expect(() => fromWireOrder(create(OrderSchema, { kind: TaskKind.GENERATION, extraJson }))).toThrow(
        expect.objectContaining({ reason: 'invalid_request', field: 'order.extra_json' }),
      );
    },
  );

  test('does not include an unknown role, which counts as no role', () => {
    const content = [
      {
        item: { case: 'media' as const, value: { kind: MediaKind.IMAGE, role: UNHEARD_OF, url: 'https://a.example' } },
      },
    ];

    expect(fromWireOrder(create(OrderSchema, { kind: TaskKind.GENERATION, content })).content).toEqual([
      { media: 'image', url: 'https://a.example' },
    ]);
  });
});

test("the order is returned with the client's own URLs", () => {
  const wire = toWireOrder(anOrder({ content: [aText('a fox'), anImage('first_frame')] }));

  expect(wire.content).toMatchObject([
    { item: { value: 'a fox' } },
    { item: { value: { kind: MediaKind.IMAGE, role: MediaRole.FIRST_FRAME, url: 'https://files.example/image' } } },
  ]);
});

test.each(Object.entries(KINDS))('the kind %s has a name', (name, number) => {
  expect(nameOf(KINDS, number)).toBe(name);
});
