import { expect, test } from '@jest/globals';
import { catchRefusalFields } from '@reelgate/platform/testing/refusals';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { succeeded } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import { aRegeneration, aText, anImage, anOrder, aVideo } from '../../../testing/orders.ts';
import type { Order } from '../../domain/order.ts';
import { applyReport } from '../polls/apply-report.ts';
import { checkCreate, estimateOrder } from './check-create.ts';
import type { CreateRequest } from '../create-context.ts';

const open = useWorlds();
const READS = new Set([
  'store.findKey',
  'store.find',
  'store.findOwned',
  'store.inFlight',
  'billing.checkHold',
  'billing.quote',
]);
const image = anOrder({ content: [aText(), anImage('first_frame')] });

interface Refused {
  readonly order?: Order;
  readonly changes?: Partial<CreateRequest>;
  readonly prepare?: (world: World) => unknown;
}

const check = (world: World, { order = image, changes = {} }: Refused = {}) =>
  checkCreate(world.deps, {
    accountId: 'acme',
    tokenId: 'token_1',
    wait: {},
    tokenWait: { for: 'channels', class: 'standard' },
    makers: [],
    visibleModels: ['*'],
    order,
    beside: {},
    ...changes,
  });

async function fault(world: World): Promise<void> {
  for (let times = 0; times < 5; times += 1) world.deps.channels.find('main')?.circuit.failed();
}

async function fill(world: World): Promise<void> {
  await world.create(anOrder(), { tokenId: 'token_2', inFlightLimit: 9 });
}

test.each<[string, string, Refused]>([
  ['a wrong order', 'invalid_duration', { order: anOrder({ duration: 99 }) }],
  [
    'a key of another request',
    'idempotency_key_reused',
    {
      changes: { idempotency: { key: 'k', fingerprint: 'other' } },
      prepare: (world) => world.create(image, { idempotency: { key: 'k', fingerprint: 'f' } }),
    },
  ],
  [
    'a key of another request, despite a wrong model',
    'idempotency_key_reused',
    {
      changes: { visibleModels: ['Alpha-H3'], idempotency: { key: 'k', fingerprint: 'other' } },
      prepare: (world) => world.create(image, { idempotency: { key: 'k', fingerprint: 'f' } }),
    },
  ],
  ['a model that is hidden from the token', 'model_not_found', { changes: { visibleModels: ['Other-V1'] } }],
  ['a model that no channel serves', 'model_not_found', { order: anOrder({ model: 'Other-V1', resolution: '480P' }) }],
  ['a source of another account', 'task_not_found', { order: aRegeneration({ sourceTaskId: 'task_none' }) }],
  ['a missing price', 'model_price_error', { prepare: ({ billing }) => billing.unpriced.add('Alpha-H3') }],
  [
    'a missing price, despite a full counter',
    'model_price_error',
    { changes: { inFlightLimit: 0 }, prepare: ({ billing }) => billing.unpriced.add('Alpha-H3') },
  ],
  ['a full counter', 'too_many_tasks', { changes: { inFlightLimit: 0 } }],
  [
    'a full counter, despite a low balance',
    'too_many_tasks',
    {
      changes: { inFlightLimit: 0 },
      prepare: ({ billing }) => {
        billing.funded = false;
      },
    },
  ],
  [
    'a balance that does not cover it',
    'insufficient_quota',
    {
      prepare: ({ billing }) => {
        billing.funded = false;
      },
    },
  ],
  [
    'a balance that does not cover it, despite unavailable channels',
    'insufficient_quota',
    {
      prepare: async (world) => {
        await fault(world);
        world.billing.funded = false;
      },
    },
  ],
  ['channels whose circuits are all open', 'no_channel_available', { prepare: fault }],
  ['channels that are full', 'rate_limit_exceeded', { prepare: fill }],
])('%s is refused as by the create before any upload, and nothing is written', async (_what, reason, refused) => {
  const channels = [channelSettings({ inFlightMax: refused.prepare === fill ? 1 : 100 })];
  const [checked, created] = await Promise.all([open({ channels }), open({ channels })]);
  for (const world of [checked, created]) await refused.prepare?.(world);
  checked.journal.clear();

  const refusal = await catchRefusalFields(check(checked, refused));
  expect(refusal).toMatchObject({ reason });
  expect(refusal).toEqual(await catchRefusalFields(created.create(refused.order ?? image, refused.changes)));
  expect(checked.journal.names().filter((name) => !READS.has(name))).toEqual([]);
});

test('an acceptable order passes each check, and is then accepted', async () => {
  const world = await open({ channels: [channelSettings({ requestsPerMinute: 1, inFlightMax: 1 })] });
  for (let times = 0; times < 3; times += 1)
    expect(await check(world, { changes: { inFlightLimit: 1 } })).toBeUndefined();

  expect((await world.create(image, { inFlightLimit: 1 })).replayed).toBe(false);
  expect(await catchRefusalFields(check(world))).toMatchObject({ reason: 'rate_limit_exceeded' });
});

test('a create with the same key is returned, whatever happened to the money since', async () => {
  const world = await open();
  const idempotency = { key: 'k', fingerprint: 'f' };
  const { task } = await world.create(image, { idempotency });
  const polled = succeeded();
  if (polled.found) await applyReport(world.deps, task, polled.report);
  world.billing.funded = false;

  expect((await check(world, { changes: { idempotency } }))?.id).toBe(task.id);
});

const caller = {
  accountId: 'acme',
  visibleModels: ['*'],
  wait: {},
  tokenWait: { for: 'channels', class: 'standard' },
} as const;

test('an estimate quotes the facts of an order, and writes nothing', async () => {
  const world = await open();
  const order = anOrder({ duration: 7, content: [aText(), anImage('reference_image'), aVideo('reference_video')] });

  expect(await estimateOrder(world.deps, { ...caller, order })).toEqual({
    quote: {
      amountNanos: 560_000_000n,
      currency: 'USD',
      contract: 'Alpha-H3',
      version: 1,
      maxAmountNanos: 560_000_000n,
    },
    facts: { priceKey: 'Alpha-H3', resolution: '768P', seconds: 7, inputVideoSeconds: 0, images: 1 },
    order,
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
  const order = aRegeneration({ sourceTaskId: task.id });

  expect((await estimateOrder(world.deps, { ...caller, order })).facts.seconds).toBe(9);
  await expect(estimateOrder(world.deps, { ...caller, accountId: 'rival', order })).rejects.toMatchObject({
    reason: 'task_not_found',
  });
});

test('an estimate is refused as the create would be', async () => {
  const world = await open();
  world.billing.unpriced.add('Alpha-H3');

  await expect(estimateOrder(world.deps, { ...caller, order: anOrder({ duration: 99 }) })).rejects.toMatchObject({
    reason: 'invalid_duration',
  });
  await expect(estimateOrder(world.deps, { ...caller, visibleModels: [], order: anOrder() })).rejects.toMatchObject({
    reason: 'model_not_found',
  });
  expect(world.journal.names()).toEqual([]);
  await expect(estimateOrder(world.deps, { ...caller, order: anOrder() })).rejects.toMatchObject({
    reason: 'model_price_error',
  });
});
