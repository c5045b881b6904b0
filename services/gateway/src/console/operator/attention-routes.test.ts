import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterEach, expect, test } from '@jest/globals';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { Resolution } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { OperatorMethods } from '../../../testing/fake-operator.ts';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

let console: OperatorUnderTest;
afterEach(() => console.stop());

const ITEM = {
  taskId: 'task_1',
  since: timestampFromMs(5),
  reason: 'overrun',
  detail: 'the usage is far above the hold',
  accountId: 'demo',
  model: 'Alpha-H3',
  channel: 'one',
  state: TaskState.COMPLETED,
};
const tasks: OperatorMethods['tasks'] = { listAttention: async () => ({ items: [ITEM] }) };
const billing: OperatorMethods['billing'] = {
  listCharges: async ({ taskIds }) => ({
    charges: taskIds.map((taskId) => ({ taskId, heldNanos: 500_000_000n, currency: 'USD', basis: Basis.DEFERRED })),
  }),
  getHold: async () => ({ deferredAmountNanos: 2_000_000_000n }),
};

test('an item has its evidence, its hold, and what each decision does to the money', async () => {
  console = await startOperatorUnderTest({ operator: { tasks, billing } });
  const { json } = await console.as('operator', 'GET', '/attention');
  expect(json).toMatchObject({
    canDecide: true,
    hasMore: false,
    items: [
      {
        id: 'task_1',
        since: 5,
        reason: 'overrun',
        channel: 'one',
        state: 'completed',
        held: { amount: '0.5', currency: 'USD' },
        decisions: [{ resolution: 'completed', charge: { amount: '2' } }, { resolution: 'failed' }, {}],
      },
    ],
  });
});

test('while billing is away the queue is shown without amounts, and says so', async () => {
  const away = async () => {
    throw serviceUnavailable(undefined);
  };
  console = await startOperatorUnderTest({ operator: { tasks, billing: { listCharges: away } } });
  const { status, json } = await console.as('viewer', 'GET', '/attention');
  expect([status, json.canDecide]).toEqual([200, false]);
  expect(json.items[0]).not.toHaveProperty('held');
  expect(json.items[0].decisions[0]).toEqual({ resolution: 'completed', isUnpriced: true });
});

test('a decision carries the name of the operator and the reason', async () => {
  const decided: object[] = [];
  console = await startOperatorUnderTest({
    operator: {
      tasks: {
        resolveAttention: async ({ taskId, resolution, actor, reason }) => {
          decided.push({ taskId, resolution, actor, reason });
          return {};
        },
      },
    },
  });
  const body = { resolution: 'failed', reason: 'the vendor lost it' };
  const refused = await console.as('viewer', 'POST', '/attention/task_1', body);
  const answer = await console.as('treasurer', 'POST', '/attention/task_1', body);
  expect([refused.status, answer.status]).toEqual([403, 200]);
  expect(decided).toEqual([
    { taskId: 'task_1', resolution: Resolution.FAILED, actor: 'treasurer', reason: 'the vendor lost it' },
  ]);
});

test('the five lights are shown while billing is away, and fail while tasks is', async () => {
  const away = async () => {
    throw serviceUnavailable(undefined);
  };
  console = await startOperatorUnderTest({
    operator: { tasks: { getPulse: away, listChannels: away }, accounts: { listActs: away } },
  });
  const { status, json } = await console.as('viewer', 'GET', '/now');
  expect(status).toBe(200);
  expect(json).toMatchObject({
    lights: ['creates', 'polls', 'settlements', 'channels', 'attention'].map((name) => ({ name, grade: 'fail' })),
    acts: [],
    services: [{ name: 'tasks', isReachable: true }, { name: 'billing' }, { name: 'media' }],
  });
});
