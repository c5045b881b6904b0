import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MediaKind, MediaRole, OrderSchema, TaskKind } from '@reelgate/proto/tasks/v1/order';
import { anyOrder } from '../../testing/any-order.ts';
import { anOrder, aText, anImage } from '../../testing/orders.ts';
import { KINDS, fromWireOrder, nameOf, toWireOrder } from './mapping-order.ts';

/** A number of no enum. */
const UNHEARD_OF = 77 as never;

test('an order is the same after it went over the wire, and has no key that holds nothing', () => {
  fc.assert(
    fc.property(anyOrder, (order) => {
      const wire = create(OrderSchema, toWireOrder(order));
      const back = fromWireOrder(fromBinary(OrderSchema, toBinary(OrderSchema, wire)));

      expect(back).toEqual(order);
      expect(JSON.parse(JSON.stringify(back))).toStrictEqual(back);
    }),
  );
});

test('what is optional is told from what is empty or zero', () => {
  const bare = fromWireOrder(create(OrderSchema, { kind: TaskKind.GENERATION, model: 'Alpha-H3' }));

  expect(Object.keys(bare).toSorted()).toEqual(['content', 'kind', 'model']);
  expect(
    fromWireOrder(create(OrderSchema, { kind: TaskKind.GENERATION, duration: 0, resolution: '', ratio: '' })),
  ).toMatchObject({ duration: 0, resolution: '', ratio: '' });
});

describe('what is no order', () => {
  test.each([
    ['nothing at all', undefined],
    ['an order without a kind', create(OrderSchema, {})],
    ['an order of an unknown kind', create(OrderSchema, { kind: UNHEARD_OF })],
  ])('%s is refused', (_what, wire) => {
    expect(() => fromWireOrder(wire)).toThrow(
      expect.objectContaining({ kind: 'invalid', reason: 'invalid_request', field: 'order.kind' }),
    );
  });

  test.each([
    ['an item that is nothing', {}],
    ['a medium without a kind', { item: { case: 'media' as const, value: { url: 'https://a.example' } } }],
    ['a medium of an unknown kind', { item: { case: 'media' as const, value: { kind: UNHEARD_OF } } }],
  ])('%s is refused by its place', (_what, item) => {
    const content = [{ item: { case: 'text' as const, value: 'a fox' } }, item];

    expect(() => fromWireOrder(create(OrderSchema, { kind: TaskKind.GENERATION, content }))).toThrow(
      expect.objectContaining({ reason: 'invalid_content', field: 'content[1]' }),
    );
  });

  test.each(['no JSON', '[]', 'null', '"a text"', '{'])(
    'unknown fields that are no JSON object are refused: %s',
    (extraJson) => {
      expect(() => fromWireOrder(create(OrderSchema, { kind: TaskKind.GENERATION, extraJson }))).toThrow(
        expect.objectContaining({ reason: 'invalid_request', field: 'order.extra_json' }),
      );
    },
  );

  test('but an unknown role counts as none', () => {
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

test('the order that a client wrote is shown with its own addresses', () => {
  const wire = toWireOrder(anOrder({ content: [aText('a fox'), anImage('first_frame')] }));

  expect(wire.content).toMatchObject([
    { item: { value: 'a fox' } },
    { item: { value: { kind: MediaKind.IMAGE, role: MediaRole.FIRST_FRAME, url: 'https://files.example/image' } } },
  ]);
});

test.each(Object.entries(KINDS))('the kind %s has a name for its number', (name, number) => {
  expect(nameOf(KINDS, number)).toBe(name);
});
