import { expect, test } from '@jest/globals';
import { TaskFinishedSchema } from '@reelgate/proto/tasks/v1/task_events';
import type { Bus } from '@reelgate/platform/bus/bus';
import { aTask } from '../../testing/tasks.ts';
import { publishFinished, toFinishedEvent } from './task-events.ts';

test('a staged end whose usage cannot be read is published without it', async () => {
  const { payload } = toFinishedEvent(aTask({ id: 'task_1' }), { state: 'completed', at: 1000, upstreamStatus: 's' });
  const published: unknown[] = [];
  const bus = { publish: async (_schema: unknown, message: unknown) => void published.push(message) };
  const broken = JSON.stringify({ ...(JSON.parse(payload) as object), usage: { totalSeconds: `1${'0'.repeat(300)}` } });

  await publishFinished(bus as unknown as Bus)({ id: 'evt_1', type: TaskFinishedSchema.typeName, payload: broken });

  expect(published).toMatchObject([{ taskId: 'task_1' }]);
  expect(published[0]).not.toHaveProperty('usage.totalSeconds');
});
