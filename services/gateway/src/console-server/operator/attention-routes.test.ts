import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { Resolution } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Money } from '../../../console/api/money.ts';
import type { AttentionRow } from '../../../console/api/operator-attention.ts';
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
const OVERRUN = { heldNanos: 500_000_000n, currency: 'USD', basis: Basis.DEFERRED, deferredNanos: 2_000_000_000n };
const tasks: OperatorMethods['tasks'] = { listAttention: async () => ({ items: [ITEM] }) };
const billing: OperatorMethods['billing'] = {
  listCharges: async ({ taskIds }) => ({
    charges: taskIds.map((taskId) => ({ ...OVERRUN, taskId })),
  }),
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

test('each of many overruns has the price of its usage', async () => {
  const items = Array.from({ length: 150 }, (_, index) => ({ ...ITEM, taskId: `task_${index}` }));
  console = await startOperatorUnderTest({ operator: { tasks: { listAttention: async () => ({ items }) }, billing } });

  const { json } = await console.as('operator', 'GET', '/attention');

  const charges = (json.items as AttentionRow[]).map((item) => item.decisions[0]?.charge?.amount);
  expect([charges.length, new Set(charges)]).toEqual([150, new Set(['2'])]);
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
  expect(answer.json).toMatchObject({ resolution: 'failed', at: expect.any(Number) });
  expect(decided).toEqual([
    { taskId: 'task_1', resolution: Resolution.FAILED, actor: 'treasurer', reason: 'the vendor lost it' },
  ]);
});

describe('a decision', () => {
  const BODY = { resolution: 'completed', reason: 'the video is as long as that' };
  const decidedBy = (actor: string, reason: string = BODY.reason, resolution = BODY.resolution) => ({
    id: 'act_1',
    at: timestampFromMs(77),
    ...{ actor, action: 'attention_resolved', subject: 'task_1', reason, detailJson: JSON.stringify({ resolution }) },
  });
  const charge = { taskId: 'task_1', heldNanos: 320_000_000n, currency: 'USD' };
  const decide = async (
    charges: object[],
    acts?: ReturnType<typeof decidedBy>[],
  ): Promise<{ status: number; json: ReturnType<typeof JSON.parse> }> => {
    const refusal = new Problem({ kind: 'conflict', reason: 'not_in_attention', message: 'it does not wait' });
    console = await startOperatorUnderTest({
      operator: {
        tasks: {
          resolveAttention: async () => {
            if (acts !== undefined) throw refusal;
            return {};
          },
          listActs: async () => ({ acts: acts ?? [] }),
        },
        billing: { listCharges: async () => ({ charges }) },
      },
    });
    return console.as('operator', 'POST', '/attention/task_1', BODY);
  };

  test.each([
    [
      'that charged more than the hold',
      { ...charge, chargedNanos: 4_800_000_000n, basis: Basis.USAGE },
      { held: '0.32', charged: '4.8', released: '0' },
    ],
    [
      'that charged a part of the hold',
      { ...charge, chargedNanos: 120_000_000n, basis: Basis.USAGE },
      { held: '0.32', charged: '0.12', released: '0.2' },
    ],
    [
      'that released the hold',
      { ...charge, chargedNanos: 0n, basis: Basis.RELEASED },
      { held: '0.32', charged: '0', released: '0.32' },
    ],
    ['whose money follows', charge, { held: '0.32' }],
    ['over usage that still waits', { ...charge, basis: Basis.DEFERRED }, { held: '0.32' }],
  ])('%s answers what it did to the money', async (_what, booked, money) => {
    const { status, json } = await decide([booked]);

    const amounts = Object.fromEntries(
      Object.entries(json.money as Record<string, Money>).map(([name, { amount }]) => [name, amount]),
    );
    expect([status, amounts]).toEqual([200, money]);
  });

  test('whose answer was lost is answered again, with the time of the first one', async () => {
    const { status, json } = await decide(
      [{ ...charge, chargedNanos: 0n, basis: Basis.RELEASED }],
      [decidedBy('operator')],
    );

    expect([status, json]).toMatchObject([
      200,
      { resolution: 'completed', at: 77, money: { charged: { amount: '0' } } },
    ]);
  });

  test.each([
    ['another person made', [decidedBy('ann')], 'ann has decided it as completed: the video is as long as that'],
    ['the visitor made otherwise', [decidedBy('operator', BODY.reason, 'failed')], 'operator has decided it as failed'],
    ['the visitor made for another reason', [decidedBy('operator', 'no')], 'operator has decided it as completed: no'],
    ['nobody made', [], 'it does not wait'],
  ])('over what does not wait, because of one that %s, is refused and says so', async (_what, acts, message) => {
    const { status, json } = await decide([], acts);

    expect([status, json.error.code]).toEqual([409, 'not_in_attention']);
    expect(json.error.message).toContain(message);
  });
});

test('the six lights are shown, and fail, while the tasks service is away', async () => {
  const away = async () => {
    throw serviceUnavailable(undefined);
  };
  console = await startOperatorUnderTest({
    operator: { tasks: { getPulse: away, listChannels: away } },
  });
  const { status, json } = await console.as('viewer', 'GET', '/now');
  expect(status).toBe(200);
  expect(json).toMatchObject({
    lights: ['creates', 'polls', 'ends', 'settlements', 'channels', 'attention'].map((name) => ({
      name,
      grade: 'fail',
    })),
    services: [{ name: 'tasks', isReachable: true }, { name: 'billing' }, { name: 'media' }],
  });
});
