import { expect, test } from '@jest/globals';
import { useWorlds } from '../../../testing/open-world.ts';
import { aRegeneration, aText, aVideo, anImage, anOrder } from '../../../testing/orders.ts';
import { estimateOrder } from './estimate-order.ts';

const open = useWorlds();
const caller = { accountId: 'acme', visibleModels: ['*'] };

test('an estimate quotes the facts of an order, and writes nothing', async () => {
  const world = await open();
  const order = anOrder({ duration: 7, content: [aText(), anImage('reference_image'), aVideo('reference_video')] });

  expect(await estimateOrder(world.deps, caller, order)).toEqual({
    quote: { amountNanos: 560_000_000n, currency: 'USD', contract: 'Alpha-H3', version: 1 },
    facts: { priceKey: 'Alpha-H3', resolution: '768P', seconds: 7, inputVideoSeconds: 0, images: 1 },
  });
  expect(world.journal.names()).toEqual(['billing.quote']);
});

test('an estimate of a regeneration uses the seconds of its source, which must belong to the caller', async () => {
  const world = await open();
  const { task } = await world.create(anOrder({ duration: 9 }));
  await world.deps.store.finish(task.id, {
    state: 'completed',
    at: 1,
    result: { object: 'obj_1', width: 1344, height: 768 },
  });

  expect((await estimateOrder(world.deps, caller, aRegeneration({ sourceTaskId: task.id }))).facts.seconds).toBe(9);
  await expect(
    estimateOrder(world.deps, { ...caller, accountId: 'rival' }, aRegeneration({ sourceTaskId: task.id })),
  ).rejects.toMatchObject({ reason: 'task_not_found' });
});

test('an estimate is refused as the create would be', async () => {
  const world = await open();
  world.billing.unpriced.add('Alpha-H3');

  await expect(estimateOrder(world.deps, caller, anOrder({ duration: 99 }))).rejects.toMatchObject({
    reason: 'invalid_duration',
  });
  await expect(estimateOrder(world.deps, { ...caller, visibleModels: [] }, anOrder())).rejects.toMatchObject({
    reason: 'model_not_found',
  });
  expect(world.journal.names()).toEqual([]);
  await expect(estimateOrder(world.deps, caller, anOrder())).rejects.toMatchObject({ reason: 'model_price_error' });
});
