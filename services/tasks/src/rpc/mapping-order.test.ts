import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MediaKind, MediaRole, OrderSchema, TaskKind } from '@reelgate/proto/tasks/v1/order';
import { anyOrder } from '../../testing/any-order.ts';
import { anOrder, aText, anImage } from '../../testing/orders.ts';
import { KINDS, fromWireOrder, fromWireEnum, toWireOrder } from './mapping-order.ts';

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

test.each(['no JSON', '[]', 'null', '"a text"', '{'])(
  'an order with unknown fields that are not a JSON object is refused: %s',
  (extraJson) => {
    expect(() => fromWireOrder(create(OrderSchema, { kind: TaskKind.GENERATION, extraJson }))).toThrow(
      expect.objectContaining({ reason: 'invalid_request', field: 'order.extra_json' }),
    );
  },
);

test("the order is returned with the client's own URLs", () => {
  const wire = toWireOrder(anOrder({ content: [aText('a fox'), anImage('first_frame')] }));

  expect(wire.content).toMatchObject([
    { item: { value: 'a fox' } },
    { item: { value: { kind: MediaKind.IMAGE, role: MediaRole.FIRST_FRAME, url: 'https://files.example/image' } } },
  ]);
});

test.each(Object.entries(KINDS))('the kind %s has a name', (name, number) => {
  expect(fromWireEnum(KINDS, number)).toBe(name);
});
