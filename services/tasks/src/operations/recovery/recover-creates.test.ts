import { describe, expect, test } from '@jest/globals';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import { aText, anImage, anOrder } from '../../../testing/orders.ts';
import { begun, outcomes, started } from '../../../testing/store/opened-store.ts';
import { settleFinished } from '../../workers/settle-finished.ts';
import { recoverCreates, recoverOwnCreates } from './recover-creates.ts';

const open = useWorlds();
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const NAMED_DEAD: readonly string[] = [];
/** Its attempt starts after its media are staged. */
const STAGED = anOrder({ content: [aText(), anImage('first_frame')] });
const idempotency = { key: 'k', fingerprint: 'f', expiresAt: Number.MAX_SAFE_INTEGER };

/** Holds the money of a task as a create does. */
async function hold({ deps, billing }: World, taskId: string): Promise<void> {
  await deps.billing.placeHold({
    taskId,
    accountId: 'acme',
    tokenId: 'token_1',
    facts: { priceKey: 'Alpha-H3', resolution: '768P', seconds: 5, inputVideoSeconds: 0, images: 0 },
  });
  expect(billing.holds.get(taskId)?.state).toBe('held');
}

describe('a create whose process died before its attempt started', () => {
  test('is refused with its key and counters released, and the sweep releases its hold', async () => {
    const world = await open();
    await begun(world.deps.store, 'task_1', { owner: 'proc_dead', createdAt: world.clock.now(), idempotency });
    await hold(world, 'task_1');

    expect(await recoverCreates(world.deps, NAMED_DEAD)).toBe(1);

    expect(await world.deps.store.find('task_1')).toMatchObject({
      admission: 'refused',
      failure: { code: 'interrupted' },
    });
    expect(await world.deps.store.findOwned('acme', 'task_1')).toBeUndefined();
    expect(await world.deps.store.findKey('acme', 'k', world.clock.now())).toBeUndefined();
    expect(await world.deps.store.inFlight('total')).toBe(0);

    await world.clock.advance(MINUTE_MS);
    await settleFinished(world.deps);
    expect(world.billing.holds.get('task_1')?.state).toBe('released');
  });

  test('without a hold can get none any more', async () => {
    const world = await open();
    await begun(world.deps.store, 'task_1', { owner: 'proc_dead', createdAt: world.clock.now() });

    await recoverCreates(world.deps, NAMED_DEAD);
    await world.clock.advance(MINUTE_MS);
    await settleFinished(world.deps);

    await expect(hold(world, 'task_1')).rejects.toMatchObject({ reason: 'hold_voided' });
  });

  test('is refused after a refused attempt too', async () => {
    const world = await open();
    await started(world.deps.store, 'task_1', { owner: 'proc_dead', createdAt: world.clock.now() });
    await world.deps.store.refuseAttempt('task_1', { number: 1, channel: 'main', error: 'no', at: world.clock.now() });

    await recoverCreates(world.deps, NAMED_DEAD);

    expect(await world.deps.store.find('task_1')).toMatchObject({ admission: 'refused' });
  });
});

describe('a create whose process died after its attempt started, and before its hold', () => {
  const attempt = { channel: 'main', inFlightMax: 10 };

  test('is refused with its key and counters released, because nothing was submitted without a hold', async () => {
    const world = await open();
    const { store } = world.deps;
    await begun(store, 'task_1', { owner: 'proc_dead', createdAt: world.clock.now(), idempotency, attempt });

    expect(await recoverCreates(world.deps, NAMED_DEAD)).toBe(1);

    expect(await store.find('task_1')).toMatchObject({ admission: 'refused', failure: { code: 'interrupted' } });
    expect(await outcomes(store, 'task_1')).toEqual(['refused']);
    expect(await store.findKey('acme', 'k', world.clock.now())).toBeUndefined();
    expect([await store.inFlight('total'), await store.inFlight('channel:main')]).toEqual([0, 0]);
  });

  test('can get no hold any more, so a process that lives after all submits nothing', async () => {
    const world = await open();
    world.journal.put(async ({ name }, proceed) => {
      if (name === 'billing.placeHold') await recoverCreates(world.deps, NAMED_DEAD);
      return proceed();
    });

    await expect(world.create()).rejects.toMatchObject({ reason: 'service_unavailable', retryAfterMs: 2000 });

    expect(world.upstream.submitted).toEqual([]);
    expect([...world.billing.holds.values()].map(({ state }) => state)).toEqual(['released']);
  });

  test('is unknown if billing cannot say whether it has a hold, and billing is asked once for all', async () => {
    const world = await open();
    const ids = ['task_1', 'task_2'];
    for (const id of ids)
      await begun(world.deps.store, id, { owner: 'proc_dead', createdAt: world.clock.now(), attempt });
    world.journal.fail('billing.precludeHold', new Error('billing is away'), ids.length);

    expect(await recoverCreates(world.deps, NAMED_DEAD)).toBe(ids.length);

    for (const id of ids) expect(await world.deps.store.find(id)).toMatchObject({ admission: 'unknown' });
    expect(world.journal.names().filter((name) => name === 'billing.precludeHold')).toHaveLength(1);
  });
});

describe('a create whose process died after its attempt started', () => {
  test('is unknown and visible, keeps its key and hold, and is not submitted again', async () => {
    const world = await open();
    await started(world.deps.store, 'task_1', { owner: 'proc_dead', createdAt: world.clock.now(), idempotency });
    await hold(world, 'task_1');

    expect(await recoverCreates(world.deps, NAMED_DEAD)).toBe(1);
    await world.clock.advance(MINUTE_MS);
    await settleFinished(world.deps);

    expect(await world.deps.store.findOwned('acme', 'task_1')).toMatchObject({
      admission: 'unknown',
      state: 'queued',
      mapping: { channel: 'main', upstreamAccount: 'vendor' },
    });
    expect(await outcomes(world.deps.store, 'task_1')).toEqual(['unknown']);
    expect(world.billing.holds.get('task_1')?.state).toBe('held');
    expect(await world.create(undefined, { idempotency })).toMatchObject({ task: { id: 'task_1' }, replayed: true });
    expect(world.upstream.submitted).toEqual([]);
  });

  test('is announced and counted, because its owner can see it from then on', async () => {
    const world = await open();
    await started(world.deps.store, 'task_1', { owner: 'proc_dead', createdAt: world.clock.now() });
    await hold(world, 'task_1');

    await recoverCreates(world.deps, NAMED_DEAD);

    expect(world.announced).toEqual([expect.objectContaining({ id: 'task_1', accountId: 'acme', state: 'queued' })]);
    expect(world.counted).toEqual(['created generation']);
  });

  test('is unknown on the channel of the started attempt', async () => {
    const world = await open({
      channels: [channelSettings({ id: 'first' }), channelSettings({ id: 'second', upstreamAccount: 'other' })],
    });
    await started(world.deps.store, 'task_1', { owner: 'proc_dead', createdAt: world.clock.now(), channel: 'first' });
    await world.deps.store.refuseAttempt('task_1', { number: 1, channel: 'first', error: 'no', at: world.clock.now() });
    await world.deps.store.startAttempt('task_1', {
      number: 2,
      owner: 'proc_dead',
      channel: 'second',
      inFlightMax: 10,
      at: world.clock.now(),
    });
    await hold(world, 'task_1');

    await recoverCreates(world.deps, NAMED_DEAD);

    expect(await world.deps.store.find('task_1')).toMatchObject({
      admission: 'unknown',
      mapping: { channel: 'second', upstreamAccount: 'other' },
    });
    expect(await outcomes(world.deps.store, 'task_1')).toEqual(['refused', 'unknown']);
  });

  test('is unknown even when its channel is no longer configured', async () => {
    const world = await open();
    await started(world.deps.store, 'task_1', { owner: 'proc_dead', createdAt: world.clock.now(), channel: 'gone' });
    await hold(world, 'task_1');

    await recoverCreates(world.deps, NAMED_DEAD);

    expect(await world.deps.store.find('task_1')).toMatchObject({
      admission: 'unknown',
      mapping: { channel: 'gone', upstreamAccount: '' },
    });
  });
});

describe('a create of a living process', () => {
  test('is left alone', async () => {
    const world = await open();
    await world.deps.store.heartbeat('proc_alive', world.clock.now());
    await begun(world.deps.store, 'task_1', { owner: 'proc_alive', createdAt: world.clock.now() });

    expect(await recoverCreates(world.deps, NAMED_DEAD)).toBe(0);

    expect(await world.deps.store.find('task_1')).toMatchObject({ admission: 'submitting' });
  });

  test('is left alone for any duration and any jump of the clock', async () => {
    const world = await open();
    await world.deps.store.heartbeat('proc_alive', world.clock.now());
    await started(world.deps.store, 'task_1', { owner: 'proc_alive', createdAt: world.clock.now() });
    for (const jump of [5 * HOUR_MS, -10 * HOUR_MS]) {
      await world.clock.advance(jump);
      expect(await recoverCreates(world.deps, NAMED_DEAD)).toBe(0);
    }

    expect(await world.deps.store.find('task_1')).toMatchObject({ admission: 'submitting' });
  });

  test('that was wrongly taken for dead starts no attempt, and keeps the answer to what it had sent', async () => {
    const world = await open();
    world.journal.put(async ({ name }, proceed) => {
      const answer = await proceed();
      if (name === 'main.submit') await recoverCreates(world.deps, NAMED_DEAD);
      return answer;
    });

    const { task } = await world.create();

    expect(task).toMatchObject({ admission: 'accepted', mapping: { upstreamId: 'up-1' } });
    expect(world.upstream.submitted).toHaveLength(1);
  });

  test('that is taken over while it starts an attempt either starts none or is not refused', async () => {
    const world = await open();
    const { store } = world.deps;
    await begun(store, 'task_1', { owner: 'proc_dead', createdAt: world.clock.now() });
    let start: Promise<PromiseSettledResult<boolean>[]> | undefined;
    world.journal.put(async ({ name }, proceed) => {
      const answer = await proceed();
      if (name === 'store.attempts')
        start ??= Promise.allSettled([
          store.startAttempt('task_1', {
            number: 1,
            owner: 'proc_dead',
            channel: 'main',
            inFlightMax: 10,
            at: world.clock.now(),
          }),
        ]);
      await start;
      return answer;
    });

    await recoverCreates(world.deps, NAMED_DEAD);

    expect(await start).toMatchObject([{ status: 'rejected' }]);
    expect(await store.find('task_1')).toMatchObject({ admission: 'refused' });
    expect(await store.inFlight('channel:main')).toBe(0);
  });

  test('that was wrongly taken for dead between its hold and its submission is unknown until its answer', async () => {
    const world = await open();
    const seen: (string | undefined)[] = [];
    world.journal.put(async ({ name }, proceed) => {
      const answer = await proceed();
      if (name !== 'billing.placeHold') return answer;
      await recoverCreates(world.deps, NAMED_DEAD);
      seen.push((await world.deps.store.list({ accountId: 'acme' }, { limit: 10 }))[0]?.admission);
      return answer;
    });

    const { task } = await world.create();

    expect(seen).toEqual(['unknown']);
    expect(task).toMatchObject({ admission: 'accepted', mapping: { upstreamId: 'up-1' } });
    expect(world.upstream.submitted).toHaveLength(1);
    expect([...world.billing.holds.values()].map(({ state }) => state)).toEqual(['held']);
  });

  test('that was wrongly taken for dead before its attempt submits nothing, and is to be repeated', async () => {
    const world = await open();
    world.journal.put(async ({ name }, proceed) => {
      const answer = await proceed();
      if (name === 'billing.placeHold') await recoverCreates(world.deps, NAMED_DEAD);
      return answer;
    });

    await expect(world.create(STAGED)).rejects.toMatchObject({ reason: 'service_unavailable', retryAfterMs: 2000 });
    await world.clock.advance(MINUTE_MS);
    await settleFinished(world.deps);

    expect(world.upstream.submitted).toEqual([]);
    expect(await world.deps.store.list({ hidden: true }, { limit: 10 })).toMatchObject([{ admission: 'refused' }]);
    expect([...world.billing.holds.values()].map(({ state }) => state)).toEqual(['released']);
  });
});

describe('a create of this process that ended while the database was away', () => {
  test('before it submitted is refused once the database answers: key, counters and hold are released', async () => {
    const world = await open();
    for (const name of ['store.startAttempt', 'store.refuse'])
      world.journal.fail(name, new Error('the database is away'));
    await expect(world.create(STAGED, { idempotency })).rejects.toThrow('the database is away');
    expect(await world.deps.store.list({ hidden: true }, { limit: 10 })).toMatchObject([{ admission: 'submitting' }]);

    await recoverOwnCreates(world.deps);
    await world.clock.advance(MINUTE_MS);
    await settleFinished(world.deps);

    expect(await world.deps.store.list({ hidden: true }, { limit: 10 })).toMatchObject([
      { admission: 'refused', failure: { code: 'interrupted' } },
    ]);
    expect(await world.deps.store.findKey('acme', 'k', world.clock.now())).toBeUndefined();
    expect(await world.deps.store.inFlight('total')).toBe(0);
    expect([...world.billing.holds.values()].map(({ state }) => state)).toEqual(['released']);
  });

  test('while it wrote its task is refused, because the task has no hold', async () => {
    const world = await open();
    world.journal.put(async ({ name }, proceed) => {
      const answer = await proceed();
      if (name === 'store.begin') throw new Error('the line was cut');
      return answer;
    });
    await expect(world.create(undefined, { idempotency })).rejects.toThrow('the line was cut');

    await recoverOwnCreates(world.deps);

    expect(await world.deps.store.list({ hidden: true }, { limit: 10 })).toMatchObject([{ admission: 'refused' }]);
    expect(await world.deps.store.findKey('acme', 'k', world.clock.now())).toBeUndefined();
    expect([await world.deps.store.inFlight('total'), await world.deps.store.inFlight('channel:main')]).toEqual([0, 0]);
  });

  test('while it wrote its attempt is refused, because this process knows that nothing was submitted', async () => {
    const world = await open();
    world.journal.fail('store.refuse', new Error('the database is away'));
    world.journal.put(async ({ name }, proceed) => {
      const answer = await proceed();
      if (name === 'store.startAttempt') throw new Error('the line was cut');
      return answer;
    });
    await expect(world.create(STAGED)).rejects.toThrow('away');
    expect(
      await outcomes(world.deps.store, (await world.deps.store.list({ hidden: true }, { limit: 1 }))[0]!.id),
    ).toEqual(['started']);

    await recoverOwnCreates(world.deps);

    expect(await world.deps.store.list({ hidden: true }, { limit: 10 })).toMatchObject([{ admission: 'refused' }]);
    expect([await world.deps.store.inFlight('total'), await world.deps.store.inFlight('channel:main')]).toEqual([0, 0]);
    expect([world.upstream.submitted, [...world.deps.creating]]).toEqual([[], []]);
  });

  test('after it submitted is unknown, and keeps its hold', async () => {
    const world = await open();
    world.journal.fail('store.accept', new Error('the database is away'), 1000);
    const creating = world.create(undefined, { idempotency }).catch((error: unknown) => error);
    for (let tries = 0; tries < 100; tries += 1) await world.clock.advance(500);
    await expect(creating).resolves.toThrow('could not be written');

    await recoverOwnCreates(world.deps);

    expect(await world.deps.store.list({ hidden: true }, { limit: 10 })).toMatchObject([
      { admission: 'unknown', state: 'queued' },
    ]);
    expect([...world.billing.holds.values()].map(({ state }) => state)).toEqual(['held']);
    expect(world.upstream.submitted).toHaveLength(1);
  });

  test('is not treated as ended while it continues', async () => {
    const world = await open();
    for (const step of ['billing.placeHold', 'store.startAttempt', 'main.submit', 'store.accept']) {
      world.journal.put(async ({ name }, proceed) => {
        if (name === step) await recoverOwnCreates(world.deps);
        const answer = await proceed();
        if (name === step) await recoverOwnCreates(world.deps);
        return answer;
      });
      expect((await world.create(STAGED)).task).toMatchObject({ admission: 'accepted' });
    }
  });

  test('is left to refuse itself, and releases its hold at once', async () => {
    const world = await open();
    world.journal.fail('store.startAttempt', new Error('a fault'));
    let refusals = 0;
    world.journal.put(async ({ name }, proceed) => {
      if (name === 'store.refuse') refusals += 1;
      if (name === 'store.refuse' && refusals === 1) await recoverOwnCreates(world.deps);
      return proceed();
    });

    await expect(world.create(STAGED)).rejects.toThrow('a fault');

    expect(await world.deps.store.list({ hidden: true }, { limit: 10 })).toMatchObject([
      { admission: 'refused', failure: { code: 'internal_error' } },
    ]);
    expect([...world.billing.holds.values()].map(({ state }) => state)).toEqual(['released']);
    expect([...world.deps.creating]).toEqual([]);
  });
});
