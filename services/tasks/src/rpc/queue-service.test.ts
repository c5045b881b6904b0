import { timestampMs } from '@bufbuild/protobuf/wkt';
import { describe, expect, test } from '@jest/globals';
import { FAULTS_TO_OPEN } from '@reelgate/platform/limits/circuit-breaker';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { bind } from '@reelgate/platform/rpc/service';
import type { Client } from '@reelgate/platform/rpc/service';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { QueueClass as WireClass, QueueWait } from '@reelgate/proto/tasks/v1/queue';
import { QueueReason, QueueService } from '@reelgate/proto/tasks/v1/queue_service';
import { channelSettings } from '../../testing/channel-settings.ts';
import { useWorlds } from '../../testing/open-world.ts';
import type { World } from '../../testing/open-world.ts';
import { aNewTask } from '../../testing/tasks.ts';
import { nameLane } from '../domain/lane.ts';
import type { QueueClass } from '../domain/lane.ts';
import { pauseChannel } from '../operations/operators/pause-channel.ts';
import type { QueuePlace } from '../store/queue-store.ts';
import { queueService } from './queue-service.ts';

const openWorld = useWorlds();
const MINUTE_MS = 60_000;
const CHANNELS = [channelSettings({ id: 'first', inFlightMax: 1 }), channelSettings({ id: 'second', inFlightMax: 1 })];
const SINCE = Date.UTC(2026, 0, 1);

const laneOf = (ofClass: QueueClass, model = 'Alpha-H3'): string =>
  nameLane({ kind: 'generation', model, without: [], class: ofClass });
const LANE = laneOf('standard');

interface Opened {
  readonly world: World;
  readonly client: Client<typeof QueueService>;
  /** A task that waits. */
  wait(id: string, place?: Partial<QueuePlace>): Promise<void>;
  /** The reasons of the accounts, by their ids. */
  reasons(): Promise<Record<string, QueueReason>>;
  acts(): Promise<readonly string[]>;
}

async function open(): Promise<Opened> {
  const world = await openWorld({ channels: CHANNELS });
  const client = directClient(QueueService, bind(QueueService, queueService(world.deps, world.operate)), aCaller());
  return {
    world,
    client,
    wait: async (id, place = {}) => {
      const { accountId = 'acme', tokenId = 'token_1' } = place;
      const task = aNewTask(id, { accountId, tokenId });
      await world.deps.store.begin(task);
      const whole = {
        ...{
          lane: LANE,
          cost: 5,
          since: SINCE,
          startBy: SINCE + MINUTE_MS,
          mediaJson: '{}',
          refusals: 0,
          caps: task.caps,
        },
        ...{ ...place, taskId: id, accountId, tokenId },
      };
      expect(await world.deps.store.enqueue(whole, task.owner)).toBeDefined();
    },
    reasons: async () =>
      Object.fromEntries((await client.listQueue({})).accounts.map(({ accountId, reason }) => [accountId, reason])),
    acts: async () =>
      (await world.operate.operators.acts({}, { limit: 10 })).map(
        ({ action, subject, actor, reason, detailJson }) => `${actor} ${action} ${subject} ${reason} ${detailJson}`,
      ),
  };
}

const openCircuit = ({ deps }: World, id: string): void => {
  for (let fault = 0; fault < FAULTS_TO_OPEN; fault += 1) deps.channels.find(id)?.circuit.failed();
};
const by = { actor: 'ann', reason: 'a test' };

describe('ListQueue', () => {
  test('shows the lanes with their channels and turns, and the accounts with their shares', async () => {
    const { world, client, wait } = await open();
    await wait('task_1');
    await wait('task_2', { accountId: 'rival', since: SINCE + 9 });
    await wait('task_3', { accountId: 'rival', lane: laneOf('batch'), since: SINCE + 5 });
    await client.setQueueWeight({ accountId: 'acme', weight: 3, ...by });
    world.deps.queue.rates.record(LANE);

    const { lanes, accounts, hasMore, total } = await client.listQueue({});

    expect(lanes.map(({ class: ofClass, waiting, reason }) => [ofClass, waiting, reason])).toEqual([
      [WireClass.BATCH, 1n, QueueReason.CLASS],
      [WireClass.STANDARD, 2n, QueueReason.BEHIND_OTHERS],
    ]);
    expect(lanes[1]).toMatchObject({
      kind: TaskKind.GENERATION,
      model: 'Alpha-H3',
      startsPerMinute: 3,
      held: false,
      channels: [
        { id: 'first', inFlight: 0n, inFlightLimit: 1n },
        { id: 'second', inFlight: 0n, inFlightLimit: 1n },
      ],
    });
    expect(accounts.map(({ accountId, weight, share }) => [accountId, weight, share])).toEqual([
      ['acme', 3, 0.75],
      ['rival', 1, 1],
      ['rival', 1, 0.25],
    ]);
    expect([hasMore, total, timestampMs(accounts[2]!.oldestSince!)]).toEqual([false, 3n, SINCE + 9]);
  });

  test('filters by model, class and account', async () => {
    const { client, wait } = await open();
    await wait('task_1');
    await wait('task_2', { accountId: 'rival', lane: laneOf('batch') });
    await wait('task_3', { accountId: 'rival', lane: laneOf('batch', 'Other-V1') });
    const count = async (filter: object): Promise<readonly number[]> => {
      const { lanes, accounts } = await client.listQueue(filter);
      return [lanes.length, accounts.length];
    };

    expect(await count({})).toEqual([3, 3]);
    expect(await count({ model: 'Alpha-H3' })).toEqual([2, 2]);
    expect(await count({ class: WireClass.BATCH })).toEqual([2, 2]);
    expect(await count({ accountId: 'acme' })).toEqual([1, 1]);
    expect(await count({ model: 'none' })).toEqual([0, 0]);
  });

  test.each<[string, QueueReason, (opened: Opened) => Promise<unknown> | undefined]>([
    ['a channel has room', QueueReason.BEHIND_OTHERS, () => undefined],
    [
      'every channel is in use',
      QueueReason.CHANNEL_LIMIT,
      async ({ world }) => {
        for (const channel of ['first', 'second']) {
          await world.deps.store.begin(aNewTask(channel));
          const attempt = { number: 1, owner: 'proc_1', channel, inFlightMax: 1, at: SINCE };
          await world.deps.store.startAttempt(channel, attempt);
        }
      },
    ],
    [
      'a circuit is open and the other channel is paused',
      QueueReason.CHANNEL_DOWN,
      ({ world }) => {
        openCircuit(world, 'first');
        return pauseChannel(world.operate, { channel: 'second', ...by });
      },
    ],
    [
      'every channel is paused',
      QueueReason.CHANNEL_PAUSED,
      async ({ world }) => {
        for (const channel of ['first', 'second']) await pauseChannel(world.operate, { channel, ...by });
      },
    ],
    [
      'no channel serves the model',
      QueueReason.NO_CHANNEL,
      ({ world }) => {
        world.deps.channels.replace([]);
        return undefined;
      },
    ],
    [
      'its tokens are at their limits',
      QueueReason.OWN_LIMIT,
      ({ world }) => world.sql.write('UPDATE queue_accounts SET ready = 0'),
    ],
    ['an operator holds the account', QueueReason.HELD, ({ client }) => client.holdQueue({ accountId: 'acme', ...by })],
    ['an operator holds the model', QueueReason.HELD, ({ client }) => client.holdQueue({ model: 'Alpha-H3', ...by })],
  ])('says why an account waits: %s', async (_when, reason, change) => {
    const opened = await open();
    await opened.wait('task_1');
    await change(opened);

    expect(await opened.reasons()).toEqual({ acme: reason });
  });

  test('shows the tasks before their time as a lane without a model', async () => {
    const { client, wait } = await open();
    await wait('task_1', { lane: 'scheduled' });

    const { lanes, accounts } = await client.listQueue({});

    expect(lanes).toMatchObject([{ model: '', kind: 0, class: 0, channels: [], reason: QueueReason.SCHEDULED }]);
    expect(accounts).toMatchObject([{ accountId: 'acme', reason: QueueReason.SCHEDULED }]);
    expect((await client.listQueue({ model: 'Alpha-H3' })).lanes).toEqual([]);
  });
});

describe('ShowQueuedTask', () => {
  test('shows the owner, the place and the reason', async () => {
    const { world, client, wait } = await open();
    await wait('task_1');
    await wait('task_2', { cost: 7 });
    for (let turn = 0; turn < 6; turn += 1) world.deps.queue.rates.record(LANE);

    const shown = await client.showQueuedTask({ taskId: 'task_2' });

    expect(shown).toMatchObject({
      accountId: 'acme',
      tokenId: 'token_1',
      kind: TaskKind.GENERATION,
      model: 'Alpha-H3',
      costSeconds: 7n,
      reason: QueueReason.BEHIND_OWN_TASKS,
      place: { position: 1, class: WireClass.STANDARD, waitsFor: QueueWait.CAPACITY },
    });
    expect(timestampMs(shown.place!.estimatedStartAt!)).toBe(world.clock.now() + 6667);
    expect((await client.showQueuedTask({ taskId: 'task_1' })).reason).toBe(QueueReason.BEHIND_OTHERS);
  });

  test('of a task before its time shows the lane in which it waits from then on', async () => {
    const { world, client, wait } = await open();
    await wait('task_1', { lane: 'scheduled' });
    await world.sql.write('UPDATE waiting SET next_lane = $1, not_before = $2', [laneOf('batch'), SINCE + 5]);

    expect(await client.showQueuedTask({ taskId: 'task_1' })).toMatchObject({
      model: 'Alpha-H3',
      reason: QueueReason.SCHEDULED,
      place: { class: WireClass.BATCH, waitsFor: QueueWait.SCHEDULED },
    });
  });
});

describe('a decision over a task', () => {
  test('moves it to another class, with an act of the caller if no one else is named', async () => {
    const { client, wait, acts } = await open();
    await wait('task_1');

    const { place } = await client.moveQueuedTask({ taskId: 'task_1', class: WireClass.INTERACTIVE, reason: 'urgent' });

    expect(place).toMatchObject({ class: WireClass.INTERACTIVE, position: 0 });
    expect(await acts()).toEqual([
      'program queue_task_moved task_1 urgent {"from":"standard","to":"interactive","first":false}',
    ]);
  });

  test('cancels it as its client would, with words that name an operator', async () => {
    const { world, client, wait, acts } = await open();
    await wait('task_1');
    await wait('task_2');

    expect(await client.cancelQueued({ taskId: 'task_1', ...by })).toMatchObject({ cancelled: 1, hasMore: false });

    expect(await world.deps.store.find('task_1')).toMatchObject({
      state: 'failed',
      failure: { code: 'cancelled', message: 'an operator cancelled the task before it began' },
    });
    expect(await world.deps.store.countWaiting('acme')).toMatchObject({ ofAccount: 1 });
    expect(await acts()).toEqual(['ann queue_cancelled task_1 a test {"taskId":"task_1","tasks":1}']);
  });

  test.each<[string, (client: Opened['client'], taskId: string) => Promise<unknown>]>([
    ['ShowQueuedTask', (client, taskId) => client.showQueuedTask({ taskId })],
    ['MoveQueuedTask', (client, taskId) => client.moveQueuedTask({ taskId, first: true, ...by })],
    ['CancelQueued', (client, taskId) => client.cancelQueued({ taskId, ...by })],
  ])('is refused by %s of a task that does not wait, and leaves no act', async (_rpc, call) => {
    const { world, client, acts } = await open();
    const { task } = await world.create();

    await expect(call(client, 'task_none')).rejects.toMatchObject({ reason: 'task_not_found' });
    await expect(call(client, task.id)).rejects.toMatchObject({ kind: 'conflict', reason: 'task_not_waiting' });
    expect(await acts()).toEqual([]);
  });
});

describe('CancelQueued of an account', () => {
  test('ends all of its tasks that wait, or those of a token, with one act', async () => {
    const { world, client, wait, acts } = await open();
    for (const id of ['task_1', 'task_2']) await wait(id);
    await wait('task_3', { tokenId: 'token_2', lane: laneOf('batch') });
    await wait('task_4', { accountId: 'rival' });

    expect(await client.cancelQueued({ accountId: 'acme', tokenId: 'token_2', ...by })).toMatchObject({ cancelled: 1 });
    expect(await client.cancelQueued({ accountId: 'acme', ...by })).toMatchObject({ cancelled: 2, hasMore: false });

    expect(await world.deps.store.countWaiting('rival')).toEqual({ ofAccount: 1, total: 1 });
    expect(await acts()).toEqual([
      'ann queue_cancelled acme a test {"accountId":"acme","tasks":2}',
      'ann queue_cancelled acme a test {"accountId":"acme","tokenId":"token_2","tasks":1}',
    ]);
  });

  test('ends none after five seconds, and says that more wait', async () => {
    const { world, client, wait } = await open();
    for (const id of ['task_1', 'task_2', 'task_3']) await wait(id);
    world.journal.put(async (call, proceed) => {
      if (call.name === 'store.finishWaiting') await world.clock.advance(2500);
      return proceed();
    });

    expect(await client.cancelQueued({ accountId: 'acme', ...by })).toMatchObject({ cancelled: 2, hasMore: true });
    expect(await client.cancelQueued({ accountId: 'acme', ...by })).toMatchObject({ cancelled: 1, hasMore: false });
  });

  test('without a task that waits is no act', async () => {
    const { client, acts } = await open();

    expect(await client.cancelQueued({ accountId: 'acme', ...by })).toMatchObject({ cancelled: 0, hasMore: false });
    expect(await acts()).toEqual([]);
  });
});

describe('a weight, a hold and a release', () => {
  test('a weight ends after the time that it lasts', async () => {
    const { world, client } = await open();
    const weight = { accountId: 'acme', weight: 5, ...by };

    const { endsAt } = await client.setQueueWeight({ ...weight, lasts: { seconds: 7200n } });

    expect(timestampMs(endsAt!)).toBe(world.clock.now() + 7_200_000);
    expect((await client.setQueueWeight(weight)).endsAt).toBeUndefined();
  });

  test('a release gives turns again', async () => {
    const { client, wait, reasons } = await open();
    await wait('task_1');
    await client.holdQueue({ accountId: 'acme', ...by });
    await client.releaseQueue({ accountId: 'acme', ...by });

    expect(await reasons()).toEqual({ acme: QueueReason.BEHIND_OTHERS });
  });
});

test.each<[string, string, (client: Opened['client']) => Promise<unknown>]>([
  ['a move to nowhere', 'class', (client) => client.moveQueuedTask({ taskId: 'task_1', ...by })],
  ['a move without a reason', 'reason', (client) => client.moveQueuedTask({ taskId: 'task_1', first: true })],
  ['a cancel of nothing', 'task_id', (client) => client.cancelQueued(by)],
  [
    'a cancel of a task and an account',
    'task_id',
    (client) => client.cancelQueued({ taskId: 't', accountId: 'a', ...by }),
  ],
  [
    'a cancel of a token of no account',
    'token_id',
    (client) => client.cancelQueued({ taskId: 't', tokenId: 'a', ...by }),
  ],
  ['a hold of nothing', 'account_id', (client) => client.holdQueue(by)],
  [
    'a release of an account and a model',
    'account_id',
    (client) => client.releaseQueue({ accountId: 'a', model: 'm', ...by }),
  ],
  ['a hold of a model that no channel serves', 'model', (client) => client.holdQueue({ model: 'none', ...by })],
  ['a weight of 0', 'weight', (client) => client.setQueueWeight({ accountId: 'acme', ...by })],
  ['a weight above 1000', 'weight', (client) => client.setQueueWeight({ accountId: 'acme', weight: 1001, ...by })],
  [
    'a weight for no time',
    'lasts',
    (client) => client.setQueueWeight({ accountId: 'acme', weight: 2, lasts: {}, ...by }),
  ],
])('%s is refused by the name of the field', async (_what, field, call) => {
  const { client, acts } = await open();

  await expect(call(client)).rejects.toMatchObject({ field });
  expect(await acts()).toEqual([]);
});
