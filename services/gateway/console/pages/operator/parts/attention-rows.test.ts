import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../state/api.ts';
import type { RpcCall } from '../../../state/calls.ts';
import { decide, listDecisions, readAttention } from './attention-rows.ts';
import type { Charge } from './attention-rows.ts';

const charge = (over: Partial<Charge> = {}): Charge => ({
  ...{ taskId: 'task_1', accountId: 'demo', heldNanos: '400000000', currency: 'USD' },
  basis: 'BASIS_UNSPECIFIED',
  ...over,
});
const item = (taskId: string) => ({
  ...{ taskId, reason: 'overrun', detail: 'the usage is far above the hold', accountId: 'demo', model: 'Alpha-H3' },
  ...{ channel: 'one', state: 'TASK_STATE_COMPLETED', isJob: false, since: '1970-01-01T00:00:00.005Z' },
});
const OVERRUN = charge({ heldNanos: '500000000', basis: 'BASIS_DEFERRED', deferredNanos: '2000000000' });

describe('the queue', () => {
  const read = (count: number, areChargesAway = false) =>
    readAttention(<A>({ rpc, request }: RpcCall<A>): Promise<A> => {
      if (rpc === 'tasks.OperatorService/ListAttention')
        return Promise.resolve({ items: Array.from({ length: count }, (_, at) => item(`task_${at}`)) } as A);
      const about = { status: 503, code: 'service_unavailable', field: undefined, requestId: undefined };
      if (areChargesAway) return Promise.reject(new ApiError('away', about));
      const { taskIds } = request as { readonly taskIds: readonly string[] };
      if (taskIds.length > 100) return Promise.reject(new Error('too many ids for one call'));
      return Promise.resolve({ charges: taskIds.map((taskId) => ({ ...OVERRUN, taskId })) } as A);
    });

  test('has for each entry its evidence, its hold, and what each decision does to the money', async () => {
    expect(await read(1)).toMatchObject({
      hasMore: false,
      items: [
        {
          ...{ id: 'task_0', since: 5, reason: 'overrun', channel: 'one', state: 'completed' },
          held: { amount: '0.5', currency: 'USD' },
          decisions: [{ resolution: 'completed', charge: { amount: '2' } }, { resolution: 'failed' }, {}],
        },
      ],
    });
  });

  test('has the price of the usage of each of many overruns, and says that more wait', async () => {
    const { items, hasMore } = await read(201);
    const charges = items.map(({ decisions }) => decisions[0]?.charge?.amount);

    expect([charges.length, new Set(charges), hasMore]).toEqual([200, new Set(['2']), true]);
  });

  test('is shown without amounts while billing is away, and says so', async () => {
    const [row] = (await read(1, true)).items;

    expect(row).not.toHaveProperty('held');
    expect(row?.decisions[0]).toEqual({ resolution: 'completed', isUnpriced: true });
  });
});

const shown = (of: Parameters<typeof listDecisions>[0], money: Charge | undefined): unknown[] =>
  listDecisions(of, money).map(({ resolution, charge: charged, release, refusedBecause, isUnpriced }) => [
    resolution,
    charged?.amount,
    release?.amount,
    refusedBecause ?? isUnpriced,
  ]);
const JOB = 'the call may have taken place, so it cannot be made again';
const DEFERRED = 'the usage is still far above the hold; decide as completed or failed';
const TOO_LARGE = 'the price of the usage is larger than the largest amount';

describe('the decisions over', () => {
  test.each<[string, Parameters<typeof listDecisions>[0], Charge | undefined, unknown[]]>([
    [
      'an unfinished task charge or release the hold, or look again',
      { isJob: false, state: 'in_progress' },
      charge(),
      [
        ['completed', '0.4', '0', undefined],
        ['failed', '0', '0.4', undefined],
        ['retry', undefined, undefined, undefined],
      ],
    ],
    [
      'a deferred settlement charge the price of the usage, whatever was held',
      { isJob: false, state: 'completed' },
      charge({ basis: 'BASIS_DEFERRED', deferredNanos: '9000000000' }),
      [
        ['completed', '9', '0', undefined],
        ['failed', '0', '0.4', undefined],
        ['retry', undefined, undefined, DEFERRED],
      ],
    ],
    [
      'a deferred settlement with an impossible price leave the release alone',
      { isJob: false, state: 'completed' },
      charge({ basis: 'BASIS_DEFERRED' }),
      [
        ['completed', undefined, undefined, TOO_LARGE],
        ['failed', '0', '0.4', undefined],
        ['retry', undefined, undefined, DEFERRED],
      ],
    ],
    [
      'a task that was charged already move nothing, and cannot be its release',
      { isJob: false, state: 'completed' },
      charge({ basis: 'BASIS_USAGE' }),
      [
        ['completed', undefined, undefined, undefined],
        ['failed', undefined, undefined, 'the work was charged already; decide as completed'],
        ['retry', undefined, undefined, undefined],
      ],
    ],
    [
      'a task that was released already move nothing, and cannot be its charge',
      { isJob: false, state: 'completed' },
      charge({ basis: 'BASIS_RELEASED' }),
      [
        ['completed', undefined, undefined, 'the hold was released already; decide as failed'],
        ['failed', undefined, undefined, undefined],
        ['retry', undefined, undefined, undefined],
      ],
    ],
    [
      'a job charge or release the hold of its call, which is not made again',
      { isJob: true, state: 'failed' },
      charge(),
      [
        ['completed', '0.4', '0', undefined],
        ['failed', '0', '0.4', undefined],
        ['retry', undefined, undefined, JOB],
      ],
    ],
    [
      'a job without readable money have no amounts, and it is not called again',
      { isJob: true, state: 'failed' },
      undefined,
      [
        ['completed', undefined, undefined, true],
        ['failed', undefined, undefined, true],
        ['retry', undefined, undefined, JOB],
      ],
    ],
  ])('%s', (_what, of, money, decisions) => {
    expect(shown(of, money)).toEqual(decisions);
  });
});

test.each<[string, Charge, object]>([
  [
    'that charged more than the hold',
    charge({ chargedNanos: '4800000000', basis: 'BASIS_USAGE' }),
    { held: '0.4', charged: '4.8', released: '0' },
  ],
  [
    'that charged a part of the hold',
    charge({ chargedNanos: '120000000', basis: 'BASIS_USAGE' }),
    { held: '0.4', charged: '0.12', released: '0.28' },
  ],
  [
    'that released the hold',
    charge({ chargedNanos: '0', basis: 'BASIS_RELEASED' }),
    { held: '0.4', charged: '0', released: '0.4' },
  ],
  ['whose money follows', charge(), { held: '0.4' }],
  ['over usage that still waits', charge({ basis: 'BASIS_DEFERRED' }), { held: '0.4' }],
])('a decision %s tells what it did to the money', async (_what, booked, money) => {
  const sent: object[] = [];
  const send = <A>({ rpc, request }: RpcCall<A>): Promise<A> => {
    sent.push(request);
    const isAct = rpc === 'tasks.OperatorService/ResolveAttention';
    return Promise.resolve((isAct ? { decidedAt: '1970-01-01T00:00:00.007Z' } : { charges: [booked] }) as A);
  };
  const made = await decide(send, 'task_1', { resolution: 'completed', reason: 'it is as long' });
  const amounts = Object.entries(made.money ?? {}).map(([name, { amount }]) => [name, amount]);

  expect([made.at, Object.fromEntries(amounts)]).toEqual([7, money]);
  expect(sent).toEqual([
    { taskId: 'task_1', resolution: 'RESOLUTION_COMPLETED', reason: 'it is as long' },
    { taskIds: ['task_1'] },
  ]);
});

test('a decision whose money cannot be read is made all the same', async () => {
  const send = <A>({ rpc }: RpcCall<A>): Promise<A> =>
    rpc === 'tasks.OperatorService/ResolveAttention'
      ? Promise.resolve({ decidedAt: '1970-01-01T00:00:00.007Z' } as A)
      : Promise.reject(new Error('away'));

  const made = await decide(send, 'task_1', { resolution: 'failed', reason: 'the vendor lost it' });

  expect(made).toEqual({ resolution: 'failed', at: 7 });
});
