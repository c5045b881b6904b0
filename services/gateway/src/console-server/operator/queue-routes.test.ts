import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterEach, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { QueueClass } from '@reelgate/proto/tasks/v1/queue';
import { QueueReason } from '@reelgate/proto/tasks/v1/queue_service';
import type { OperatorMethods } from '../../../testing/fake-operator.ts';
import { startOperatorUnderTest } from '../../../testing/operator-under-test.ts';
import type { OperatorUnderTest } from '../../../testing/operator-under-test.ts';

let console: OperatorUnderTest;
afterEach(() => console.stop());

const SHARED = {
  ...{ kind: TaskKind.GENERATION, model: 'fast', class: QueueClass.BATCH, waiting: 7n },
  oldestSince: timestampFromMs(5),
};

/** A queue that notes what it is asked to change. */
function aQueue(): NonNullable<OperatorMethods['queue']> & { readonly asked: object[] } {
  const asked: object[] = [];
  const noted =
    <A>(name: string, answer: A) =>
    async ({ $typeName: _, ...request }: { readonly $typeName: string }): Promise<A> => {
      asked.push({ name, ...request });
      return answer;
    };
  return {
    asked,
    listQueue: async () => ({
      lanes: [
        {
          ...SHARED,
          turnsPerMinute: 2.5,
          reason: QueueReason.CHANNEL_LIMIT,
          channels: [{ id: 'main', inFlight: 3n, inFlightLimit: 4n }],
        },
        { waiting: 1n, oldestSince: timestampFromMs(6), reason: QueueReason.SCHEDULED },
      ],
      accounts: [{ ...SHARED, accountId: 'acme', weight: 3, share: 0.75, held: true, reason: QueueReason.HELD }],
      hasMore: true,
      total: 8n,
      totalLimit: 100n,
    }),
    setQueueWeight: noted('weight', {}),
    holdQueue: noted('hold', {}),
    releaseQueue: noted('release', {}),
    cancelQueued: noted('cancel', { cancelled: 4, hasMore: false }),
  };
}

test('the lanes and the accounts that wait are listed with the reason', async () => {
  console = await startOperatorUnderTest({ operator: { queue: aQueue() } });
  const { json } = await console.as('viewer', 'GET', '/queue');

  const shared = { kind: 'generation', model: 'fast', class: 'batch', waiting: 7, oldestAt: 5 };
  expect(json).toMatchObject({
    lanes: [
      {
        ...{ ...shared, isHeld: false, reason: 'channel_limit', turnsPerMinute: 2.5 },
        channels: [{ id: 'main', inFlight: 3, inFlightMax: 4 }],
      },
      { model: '', waiting: 1, reason: 'scheduled' },
    ],
    accounts: [{ ...shared, accountId: 'acme', weight: 3, share: 0.75, isHeld: true, reason: 'held' }],
    hasMore: true,
    total: 8,
    totalMax: 100,
    canOperate: false,
  });
});

test.each([
  ['weight', { accountId: 'acme', weight: 4 }, {}],
  ['hold', { model: 'fast' }, {}],
  ['release', { accountId: 'acme' }, {}],
  ['cancel', { accountId: 'acme' }, { cancelled: 4, hasMore: false }],
])('a %s is asked for with the name of the operator and the reason', async (change, body, answer) => {
  const queue = aQueue();
  console = await startOperatorUnderTest({ operator: { queue } });

  const { json } = await console.as('operator', 'POST', `/queue/${change}`, { ...body, reason: ' a launch ' });

  expect(json).toEqual(answer);
  expect(queue.asked).toMatchObject([{ name: change, ...body, actor: 'operator', reason: 'a launch' }]);
});

test.each([
  ['no reason', { accountId: 'acme' }, 'reason'],
  ['a reason of spaces', { accountId: 'acme', reason: ' ' }, 'reason'],
  ['a weight of 0', { accountId: 'acme', weight: 0, reason: 'why' }, 'weight'],
  ['a weight that is not whole', { accountId: 'acme', weight: 1.5, reason: 'why' }, 'weight'],
])('a change with %s is refused by its field', async (_what, body, param) => {
  const queue = aQueue();
  console = await startOperatorUnderTest({ operator: { queue } });
  const refused = await console.as('operator', 'POST', '/queue/weight', body);

  expect([refused.status, refused.json.error]).toMatchObject([400, { param }]);
  expect(queue.asked).toEqual([]);
});

test('a viewer changes nothing', async () => {
  const queue = aQueue();
  console = await startOperatorUnderTest({ operator: { queue } });
  const refused = await console.as('viewer', 'POST', '/queue/hold', { accountId: 'acme', reason: 'why' });

  expect([refused.status, refused.json.error.code]).toEqual([403, 'role_missing']);
  expect(queue.asked).toEqual([]);
});

test('a refusal of the tasks service is told with its reason', async () => {
  const holdQueue = async (): Promise<never> => {
    throw new Problem({ kind: 'not_found', reason: 'model_not_found', field: 'model', message: 'must be a model' });
  };
  console = await startOperatorUnderTest({ operator: { queue: { holdQueue } } });
  const refused = await console.as('operator', 'POST', '/queue/hold', { model: 'none', reason: 'why' });

  expect([refused.status, refused.json.error.code]).toEqual([404, 'model_not_found']);
});
