import { expect, test } from '@jest/globals';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { aCaller } from '../../testing/a-caller.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { partialService } from '../../testing/partial-service.ts';
import { newMetrics } from '../metrics/metrics.ts';
import { Problem } from '../problem.ts';
import { directClient } from './direct-client.ts';
import { measureBinding } from './measure-binding.ts';

test('each call with one answer is measured by its method and its status, without a word of its caller', async () => {
  const clock = fakeClock();
  const metrics = newMetrics(false, clock);
  const refusals = [
    new Problem({ kind: 'not_found', reason: 'a_stranger', message: 'no' }),
    new Error('broken'),
    undefined,
  ];
  const binding = partialService(TaskService, {
    getTask: async () => {
      await clock.advance(40);
      const refusal = refusals.shift();
      if (refusal !== undefined) throw refusal;
      return {};
    },
    async *watchTask() {
      yield {};
    },
  });
  const client = directClient(TaskService, measureBinding(binding, { metrics, clock }), aCaller());

  for (const taskId of ['x"} 1', 'y', 'z']) await client.getTask({ accountId: 'acme', taskId }).catch(() => undefined);
  for await (const _ of client.watchTask({ accountId: 'acme', taskId: 'x' })) break;

  const lines = (await metrics.text()).split('\n').filter((line) => /_count|le="0.05"/.test(line));
  expect(lines).toEqual(
    ['NOT_FOUND', 'INTERNAL', 'OK'].flatMap((status) => [
      `reelgate_rpc_seconds_bucket{le="0.05",method="TaskService/GetTask",status="${status}"} 1`,
      `reelgate_rpc_seconds_count{method="TaskService/GetTask",status="${status}"} 1`,
    ]),
  );
});
