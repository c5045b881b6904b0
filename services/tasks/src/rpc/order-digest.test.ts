import { isDeepStrictEqual } from 'node:util';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { OrderSchema } from '@reelgate/proto/tasks/v1/order';
import { anyOrder } from '../../testing/any-order.ts';
import type { Order } from '../domain/order.ts';
import { digestOrder } from '../operations/creates/idempotency.ts';
import { fromWireOrder } from './mapping-order.ts';
import { toWireOrder } from '../operations/reads/work-messages.ts';

/** A field that this version does not know: number 500, a whole number. */
const UNKNOWN_FIELD = Buffer.from([0xa0, 0x1f, 0x07]);

const decoded = (bytes: Uint8Array): Order => fromWireOrder(fromBinary(OrderSchema, bytes));

/** The same message with its fields in another order on the wire, which every reader accepts. */
function encodedInOrder(order: Order, positions: readonly number[]): Buffer {
  const { $typeName: _, ...message } = toWireOrder(order);
  const fields = Object.entries(message).map(([name, value], index) => ({
    position: positions[index] ?? 0,
    bytes: toBinary(OrderSchema, create(OrderSchema, { [name]: value })),
  }));
  return Buffer.concat(fields.toSorted((one, other) => one.position - other.position).map(({ bytes }) => bytes));
}

test('the same order has the same digest for every encoding of its message', () => {
  fc.assert(
    fc.property(anyOrder, fc.array(fc.integer(), { minLength: 12, maxLength: 12 }), (order, positions) => {
      const plain = toBinary(OrderSchema, create(OrderSchema, toWireOrder(order)));
      const digest = digestOrder(decoded(plain));

      expect(digestOrder(decoded(encodedInOrder(order, positions)))).toBe(digest);
      expect(digestOrder(decoded(Buffer.concat([UNKNOWN_FIELD, plain, UNKNOWN_FIELD])))).toBe(digest);
      expect(digestOrder(order)).toBe(digest);
    }),
  );
});

test('two orders have different digests, unless their fields mean the same', () => {
  const meaning = (order: Order): unknown => ({
    ...order,
    extraJson: order.extraJson === undefined ? undefined : (JSON.parse(order.extraJson) as unknown),
  });
  fc.assert(
    fc.property(
      anyOrder,
      anyOrder,
      fc.constantFrom<(keyof Order)[]>(
        'kind',
        'model',
        'content',
        'duration',
        'resolution',
        'ratio',
        'sourceTaskId',
        'aigcWatermark',
        'callbackUrl',
        'size',
        'extraJson',
      ),
      (order, other, field) => {
        const changed = { ...order, [field]: other[field] };

        expect(digestOrder(changed) === digestOrder(order)).toBe(
          isDeepStrictEqual(meaning(changed), meaning({ ...order, [field]: order[field] })),
        );
      },
    ),
    { numRuns: 500 },
  );
});
