import { expect, test } from '@jest/globals';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import { aText, anImage, anOrder } from '../../../testing/orders.ts';
import { fill, useQueueWorlds } from '../../../testing/queue-world.ts';
import { endTask } from '../ends/end-task.ts';

const openQueue = useQueueWorlds();
const MINUTE_MS = 60_000;

test('a turn that failed ends only after its task is back in its place', async () => {
  const world = await openQueue();
  const { deps, clock, journal } = world;
  const first = await fill(world);
  const { task } = await world.create(anOrder({ content: [aText(), anImage('first_frame')] }));
  await endTask(deps, (await deps.store.find(first))!, { state: 'completed', at: clock.now() });
  await clock.advance(MINUTE_MS);
  const wasAtWork: boolean[] = [];
  journal.put(async ({ name }, proceed) => {
    if (name === 'links.mediaUrl') throw serviceUnavailable(new Error('away'));
    const result = await proceed();
    if (name === 'store.returnToQueue') wasAtWork.push(deps.creating.has(task.id));
    return result;
  });

  await world.pass();

  expect(wasAtWork).toEqual([true]);
});
