import { describe, expect, test } from '@jest/globals';
import { refused } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import { anOrder } from '../../../testing/orders.ts';
import type { CreateRequest, CreateResult } from '../create-context.ts';

const open = useWorlds();
const DAY_MS = 24 * 3600 * 1000;
const idempotency = { key: 'order-7', fingerprint: 'digest of it' };
const create = (world: World, changes: Partial<CreateRequest> = {}): Promise<CreateResult> =>
  world.create(anOrder(), { idempotency, ...changes });

/** Submissions wait from now on until they are released. */
function holdUp({ journal }: World): { readonly reached: Promise<void>; readonly letGo: () => void } {
  const reached = Promise.withResolvers<undefined>();
  const gate = Promise.withResolvers<undefined>();
  journal.put(async ({ name }, proceed) => {
    if (name !== 'main.submit') return proceed();
    reached.resolve(undefined);
    await gate.promise;
    return proceed();
  });
  return { reached: reached.promise, letGo: () => gate.resolve(undefined) };
}

describe('a repeated call', () => {
  test('returns the same task without a call to billing or the upstream', async () => {
    const world = await open();
    const first = await create(world);
    world.journal.clear();

    const again = await create(world);

    expect(again).toEqual({ task: first.task, replayed: true, applied: {} });
    expect(world.journal.names()).toEqual(['store.findKey', 'store.find']);
    expect(world.upstream.submitted).toHaveLength(1);
    expect(world.billing.holds.size).toBe(1);
  });

  test.each<[string, (world: World) => unknown]>([
    [
      'the balance is used up',
      ({ billing }) => {
        billing.funded = false;
      },
    ],
    [
      'the price is removed',
      ({ billing }) => {
        billing.unpriced.add('Alpha-H3');
      },
    ],
    ['its channel is removed', ({ deps }) => deps.channels.replace([])],
    [
      'the task has ended',
      async ({ deps }) =>
        deps.store.finish((await deps.store.list({ accountId: 'acme' }, { limit: 1 }))[0]!.id, {
          state: 'failed',
          at: deps.clock.now(),
        }),
    ],
  ])('returns the same task although %s', async (_what, change) => {
    const world = await open();
    const { task } = await create(world);
    await change(world);

    const again = await create(world, { inFlightLimit: 0 });

    expect([again.task.id, again.replayed]).toEqual([task.id, true]);
  });

  test('returns the same task although its model is now hidden from the token', async () => {
    const world = await open();
    const { task } = await create(world);

    expect((await create(world, { visibleModels: [] })).task.id).toBe(task.id);
  });

  test('returns the same task although its owner has removed it', async () => {
    const world = await open();
    const { task } = await create(world);
    await world.deps.store.finish(task.id, { state: 'failed', at: world.clock.now() });
    await world.deps.store.remove(task.id, world.clock.now());

    expect((await create(world)).task.id).toBe(task.id);
  });

  test('after a day is a new call', async () => {
    const world = await open();
    const { task } = await create(world);

    await world.clock.advance(DAY_MS - 1);
    expect((await create(world)).replayed).toBe(true);

    await world.clock.advance(1);
    const later = await create(world);
    expect(later.replayed).toBe(false);
    expect(later.task.id).not.toBe(task.id);
  });

  test('of another account is another call', async () => {
    const world = await open();
    const { task } = await create(world);

    expect((await create(world, { accountId: 'rival' })).task.id).not.toBe(task.id);
  });
});

test('another call with the same key is refused, and changes nothing', async () => {
  const world = await open();
  await create(world);
  world.journal.clear();

  await expect(create(world, { idempotency: { ...idempotency, fingerprint: 'another digest' } })).rejects.toMatchObject(
    { kind: 'unprocessable', reason: 'idempotency_key_reused' },
  );

  expect(world.journal.names()).toEqual(['store.findKey']);
});

test('a call that is invalid by itself is refused before its key is read', async () => {
  const world = await open();
  await create(world);

  await expect(create(world, { order: anOrder({ duration: 99 }) })).rejects.toMatchObject({
    reason: 'invalid_duration',
  });
});

test('a refused call does not use up its key', async () => {
  const world = await open();
  world.upstream.answer('main', refused('content'));
  await expect(create(world)).rejects.toMatchObject({ reason: 'content_rejected' });

  const again = await create(world, { idempotency: { ...idempotency, fingerprint: 'another digest' } });

  expect(again.replayed).toBe(false);
});

describe('concurrent calls', () => {
  test('are refused with a wait while the first runs', async () => {
    const world = await open();
    const { reached, letGo } = holdUp(world);
    const first = create(world);
    await reached;

    await expect(create(world)).rejects.toMatchObject({
      kind: 'conflict',
      reason: 'idempotency_key_in_use',
      retryAfterMs: 1000,
    });
    letGo();

    const { task } = await first;
    expect(await create(world)).toMatchObject({ task: { id: task.id }, replayed: true });
    expect(world.upstream.submitted).toHaveLength(1);
  });

  test('are two calls when the first is refused while the second reads the key', async () => {
    const world = await open();
    world.upstream.answer('main', refused('content'));
    const { reached, letGo } = holdUp(world);
    const first = create(world);
    first.catch(() => undefined);
    await reached;
    const held = world.journal;
    held.put(async ({ name }, proceed) => {
      const given = await proceed();
      if (name !== 'store.findKey') return given;
      held.put(async (_call, go) => go());
      letGo();
      await first.catch(() => undefined);
      return given;
    });

    const second = await create(world);

    await expect(first).rejects.toMatchObject({ reason: 'content_rejected' });
    expect(second).toMatchObject({ replayed: false, task: { admission: 'accepted' } });
  });

  test('create one task, one hold and one submission, for any number of calls', async () => {
    const world = await open();
    const { reached, letGo } = holdUp(world);
    const concurrent = Array.from({ length: 30 }, () => create(world));
    const { promise: othersRefused, resolve } = Promise.withResolvers<undefined>();
    let refusals = 0;
    for (const call of concurrent)
      call.catch(() => {
        refusals += 1;
        if (refusals === concurrent.length - 1) resolve(undefined);
      });
    await reached;
    await othersRefused;
    letGo();

    const calls = await Promise.allSettled(concurrent);
    const made = calls.flatMap((call) => (call.status === 'fulfilled' ? [call.value] : []));
    const reasons = calls.flatMap((call) =>
      call.status === 'rejected' ? [(call.reason as { readonly reason: string }).reason] : [],
    );
    expect(made.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect(new Set(made.map(({ task }) => task.id)).size).toBe(1);
    expect(new Set(reasons)).toEqual(new Set(['idempotency_key_in_use']));
    expect(world.upstream.submitted).toHaveLength(1);
    expect(world.billing.holds.size).toBe(1);
    expect(await world.deps.store.inFlight('total')).toBe(1);
  });
});
