import { expect, test } from '@jest/globals';
import { useWorlds } from '../../testing/open-world.ts';
import { accepted } from '../../testing/store/opened-store.ts';
import { handOver } from './pollers.ts';

const open = useWorlds();
const WAIT_MS = 100;

test('the polls of a stopping process are due for other processes at once', async () => {
  const world = await open();
  const { store, processId } = world.deps;
  await accepted(store, 'task_1', { nextPollAt: 0 });
  await store.heartbeat(processId, 1);
  const polled = { now: 1, leaseUntil: Number.MAX_SAFE_INTEGER, limit: 1 };
  await store.claimDue('main', { ...polled, owner: processId });

  await handOver(world.deps);

  expect(await store.heartbeats()).toEqual(new Map());
  expect(await store.claimDue('main', { ...polled, owner: 'proc_other' })).toHaveLength(1);
});

test('a stopping process waits for its creates, for a bounded time', async () => {
  const world = await open();
  world.deps.creating.set('task_1', 'working');
  let over = false;
  const stopping = handOver(world.deps).then(() => {
    over = true;
  });
  await world.clock.advance(WAIT_MS);
  expect(over).toBe(false);

  for (let waits = 0; waits < 100 && !over; waits += 1) await world.clock.advance(WAIT_MS);
  await stopping;

  world.deps.creating.clear();
  await handOver(world.deps);
});

test('a process without its database stays registered, so that others notice its silence', async () => {
  const world = await open();
  await world.deps.store.heartbeat(world.deps.processId, 1);
  world.journal.fail('store.dropLeases', new Error('the database is away'));

  await expect(handOver(world.deps)).rejects.toThrow('away');

  expect((await world.deps.store.heartbeats()).size).toBe(1);
});
