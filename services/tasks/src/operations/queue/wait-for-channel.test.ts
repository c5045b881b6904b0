import { describe, expect, test } from '@jest/globals';
import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import { anOrder } from '../../../testing/orders.ts';
import { LANE, countScopes, fill, listHeld, useQueueWorlds } from '../../../testing/queue-world.ts';
import { outcomes } from '../../../testing/store/opened-store.ts';
import { settleFinished } from '../../workers/settle-finished.ts';
import type { CreateRequest } from '../create-context.ts';

const open = useWorlds();
const openQueue = useQueueWorlds();
const MINUTE_MS = 60_000;

describe('creates of which many come at once', () => {
  const PER_MINUTE = 20;
  const createMany = async (world: World, count: number, changes: Partial<CreateRequest> = {}) => {
    const admissions: string[] = [];
    for (let index = 0; index < count; index += 1)
      admissions.push((await world.create(anOrder(), changes)).task.admission);
    return admissions;
  };
  const OPTIONS = {
    channels: [channelSettings({ requestsPerMinute: PER_MINUTE, inFlightMax: 1000 })],
    limits: { inFlightPerToken: 1000, inFlightTotal: 1000 },
  };
  const countAccepted = (admissions: readonly string[]): number =>
    admissions.filter((admission) => admission === 'accepted').length;

  test('take a quarter of the minute of a channel, and the turns of all accounts have the rest', async () => {
    const world = await openQueue(OPTIONS);
    const first = await createMany(world, PER_MINUTE);

    expect(countAccepted(first)).toBeGreaterThanOrEqual(PER_MINUTE / 4);
    expect(countAccepted(first)).toBeLessThanOrEqual(0.35 * PER_MINUTE);
    const { task: late } = await world.create(anOrder(), { accountId: 'other', tokenId: 'token_2' });
    const asked = world.clock.now();
    while (world.upstream.submitted.length < countAccepted(first) + 2) await world.clock.advance(await world.pass());
    expect(world.clock.now() - asked).toBeLessThanOrEqual(MINUTE_MS / 4);
    expect(await world.deps.store.find(late.id)).toMatchObject({ admission: 'accepted' });
  });

  test('take the whole minute if they cannot wait', async () => {
    const without = await open(OPTIONS);
    expect(countAccepted(await createMany(without, PER_MINUTE))).toBe(PER_MINUTE);

    const world = await openQueue(OPTIONS);
    const unwilling = { wait: { mode: 'none' } } as const;
    expect(countAccepted(await createMany(world, PER_MINUTE, unwilling))).toBe(PER_MINUTE);
  });

  test('that took a whole minute stop the turns of a replica for no longer than that minute', async () => {
    const world = await openQueue(OPTIONS, 2);
    await createMany(world, PER_MINUTE - 1, { wait: { mode: 'none' } });
    await createMany(world, 2);
    const asked = world.clock.now();
    while (world.upstream.submitted.length < PER_MINUTE + 1) await world.clock.advance(Math.max(1, await world.pass()));

    expect(world.clock.now() - asked).toBeLessThanOrEqual(1.2 * MINUTE_MS);
  });

  test('go straight to a channel that is used evenly, up to its limit', async () => {
    const world = await openQueue(OPTIONS);
    const admissions: string[] = [];
    for (let index = 0; index < 3 * PER_MINUTE; index += 1) {
      admissions.push(...(await createMany(world, 1)));
      await world.clock.advance((1.1 * MINUTE_MS) / PER_MINUTE);
    }
    expect(countAccepted(admissions)).toBe(3 * PER_MINUTE);
  });
});

describe('between its hold and its wait', () => {
  /** Something happens at the first hold. */
  const atHold = (world: World, happen: () => void): void => {
    world.journal.put((call, proceed) => {
      if (call.name === 'billing.placeHold') happen();
      return proceed();
    });
  };

  test('a create whose first attempt began with it goes on to its channel, although others begin to wait', async () => {
    const world = await openQueue();
    atHold(world, () => {
      world.deps.queue.lanes.add(LANE);
    });

    const { task } = await world.create();

    expect([task.admission, await outcomes(world.deps.store, task.id)]).toEqual(['accepted', ['accepted']]);
    expect(await countScopes(world)).toEqual([1, 1, 1]);
  });

  test('a create that another process takes over is refused, and its client is not told that it waits', async () => {
    const world = await openQueue();
    const first = await fill(world);
    world.journal.put(async (call, proceed) => {
      // the other process looks at the task after this one has answered
      if (call.name === 'store.enqueue') await world.deps.store.disown((call.args[0] as { taskId: string }).taskId);
      return proceed();
    });

    await expect(world.create()).rejects.toMatchObject({ kind: 'unavailable' });

    expect(listHeld(world)).toEqual([first]);
    expect(await world.deps.store.countWaiting('acme')).toEqual({ ofAccount: 0, total: 0 });
    expect(await countScopes(world)).toEqual([1, 1, 1]);
  });

  test('a create that another process refuses first is refused too, although the answer to its wait was lost', async () => {
    const world = await openQueue();
    const first = await fill(world);
    world.journal.fail('store.enqueue', new StoreUnavailable('lost', { maybeWritten: true }));
    world.journal.put(async (call, proceed) => {
      if (call.name === 'store.refuse') await proceed();
      return proceed();
    });

    await expect(world.create()).rejects.toMatchObject({ kind: 'unavailable' });

    await world.clock.advance(MINUTE_MS);
    await settleFinished(world.deps);
    expect(listHeld(world)).toEqual([first]);
  });

  test('a create before its time is refused if the queue is switched off, and is never sent', async () => {
    const world = await openQueue();
    atHold(world, () => {
      Object.assign(world.deps.queue, { limits: undefined });
    });

    const early = world.create(anOrder(), { wait: { notBefore: world.clock.now() + MINUTE_MS } });

    await expect(early).rejects.toMatchObject({ reason: 'no_channel_available' });
    expect(world.upstream.submitted).toEqual([]);
    expect(listHeld(world)).toEqual([]);
    expect(await countScopes(world)).toEqual([0, 0, 0]);
  });
});
