import fc from 'fast-check';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { expect, test } from '@jest/globals';
import { MediaKind, MediaRole, OrderSchema, TaskKind } from '@reelgate/proto/tasks/v1/order';
import { Problem } from '@reelgate/platform/problem';
import { anyOrder } from '../../testing/any-order.ts';
import { anOrder, aText, anImage } from '../../testing/orders.ts';
import { KINDS, toWireOrder } from '../operations/reads/work-messages.ts';
import { KIND_WORDS, contractPath, fromWireEnum, fromWireOrder, inContractTerms } from './mapping-order.ts';

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
  expect(fromWireEnum(KIND_WORDS, number)).toBe(name);
});

test.each([
  ['duration', 'order.duration'],
  ['content', 'order.content'],
  ['content[0].image_url', 'order.content[0].media.url'],
  ['content[11].video_url', 'order.content[11].media.url'],
  ['content[2].audio_url', 'order.content[2].media.url'],
  ['content[1].role', 'order.content[1].media.role'],
  ['content[0].text', 'order.content[0].text'],
  ['source_task_id', 'order.source_task_id'],
  ['order.extra_json', 'order.extra_json'],
  ['token_id', 'token_id'],
  ['webhook_url', 'webhook_url'],
])('%s is %s in the contract', (field, path) => {
  expect(contractPath(field)).toBe(path);
});

test('only the field of a refusal changes', async () => {
  const refusal = { kind: 'invalid', reason: 'invalid_duration', message: 'must be whole', retryAfterMs: 5 } as const;

  await expect(inContractTerms(Promise.reject(new Problem({ ...refusal, field: 'duration' })))).rejects.toMatchObject({
    ...refusal,
    field: 'order.duration',
  });
  await expect(inContractTerms(Promise.reject(new Error('a fault')))).rejects.toThrow('a fault');
  await expect(inContractTerms(Promise.resolve(1))).resolves.toBe(1);
});
