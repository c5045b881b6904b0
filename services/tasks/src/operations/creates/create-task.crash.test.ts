import { describe, expect, test } from '@jest/globals';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { LOST, aWork, refused } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import { aRegenerationByContent, aText, aVideo, anImage, anOrder } from '../../../testing/orders.ts';
import { dieAt } from '../../../testing/process-death.ts';
import type { Moment } from '../../../testing/process-death.ts';
import { outcomes } from '../../../testing/store/opened-store.ts';
import type { Order } from '../../domain/order.ts';
import type { Task } from '../../domain/task.ts';
import { newProcessLiveness } from '../../workers/process-liveness.ts';
import { settleFinished } from '../../workers/settle-finished.ts';
import type { CreateResult } from '../create-context.ts';
import { reconcileUnknown } from '../recovery/reconcile-unknown.ts';

const open = useWorlds();
const STEPS_MAX = 100;
/** The fewest calls that the recovery of one create makes. */
const RECOVERY_STEPS = 7;
const MINUTE_MS = 60_000;
const CHANNELS = [channelSettings({ id: 'first', priority: 1 }), channelSettings({ id: 'second' })];
const SCOPES = ['total', 'token:token_1', 'channel:first', 'channel:second'];

interface Scenario {
  readonly name: string;
  readonly order: Order;
  readonly prepare: (world: World) => void;
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'a channel accepts the order', order: anOrder(), prepare: () => undefined },
  {
    name: 'its media are staged, measured and paid for',
    order: aRegenerationByContent([aText(), aVideo('base_video'), anImage('first_frame')]),
    prepare: () => undefined,
  },
  {
    name: 'the second channel accepts the order',
    order: anOrder(),
    prepare: ({ upstream }) => {
      upstream.answer('first', refused('channel'));
    },
  },
  {
    name: 'no channel accepts the order',
    order: anOrder(),
    prepare: ({ upstream }) => {
      upstream.answer('first', refused('channel'));
      upstream.answer('second', refused('throttle'));
    },
  },
  {
    name: 'the content is refused',
    order: anOrder(),
    prepare: ({ upstream }) => {
      upstream.answer('first', refused('content'));
    },
  },
  {
    name: 'its media are staged, and its content is refused',
    order: anOrder({ content: [aText(), anImage('first_frame')] }),
    prepare: ({ upstream }) => {
      upstream.answer('first', refused('content'));
    },
  },
  {
    name: 'the answer is lost',
    order: anOrder(),
    prepare: ({ upstream }) => {
      upstream.answer('first', LOST);
    },
  },
  {
    name: 'the balance does not cover it',
    order: anOrder(),
    prepare: ({ billing }) => {
      billing.funded = false;
    },
  },
];

const create = (world: World, order: Order): Promise<CreateResult> =>
  world.create(order, { idempotency: { key: 'k', fingerprint: 'f' } });

/** The calls across a port that the whole scenario makes. */
async function callsOf({ order, prepare }: Scenario): Promise<readonly string[]> {
  const world = await open({ channels: CHANNELS });
  prepare(world);
  await create(world, order).catch(() => undefined);
  return world.journal.names();
}

/** The state after the process of the scenario dies at a step. */
async function leftByDeathAt(scenario: Scenario, step: number, moment: Moment): Promise<World> {
  const world = await open({ channels: CHANNELS });
  scenario.prepare(world);
  const death = dieAt(world.journal, step, moment);
  void create(world, scenario.order);
  await death;
  return world.restart();
}

/** The same, once the next process has started. */
async function afterDeathAt(scenario: Scenario, step: number, moment: Moment): Promise<World> {
  const world = await leftByDeathAt(scenario, step, moment);
  await newProcessLiveness(world.deps, true).recoverAtStart();
  return world;
}

const onlyTask = async ({ deps }: World): Promise<Task | undefined> =>
  (await deps.store.list({ hidden: true }, { limit: 10 }))[0];
const seenByOwner = async ({ deps }: World): Promise<readonly Task[]> =>
  deps.store.list({ accountId: 'acme' }, { limit: 10 });

/** Rules 3 and 5 of the design, as seen from outside. */
async function assertKept(world: World, at: string): Promise<void> {
  const { deps, billing, upstream } = world;
  const task = await onlyTask(world);
  const attempts = task === undefined ? [] : await deps.store.attempts(task.id);
  const alive = attempts.some(({ outcome }) => outcome === 'accepted' || outcome === 'unknown');
  const fact = (what: unknown): unknown => ({ at, what });

  // each submission has an attempt that was written before it
  expect(fact(attempts.slice(0, upstream.submitted.length).map(({ channel }) => channel))).toEqual(
    fact(upstream.submitted.map(({ channel }) => channel)),
  );
  // a task that an upstream has or may have is visible; any other is hidden
  expect(fact(attempts.map(({ outcome }) => outcome).includes('started'))).toEqual(fact(false));
  expect(fact((await seenByOwner(world)).length)).toEqual(fact(alive ? 1 : 0));
  expect(fact(task === undefined || (alive ? ['accepted', 'unknown'] : ['refused']).includes(task.admission))).toEqual(
    fact(true),
  );
  // only a visible task has an open hold
  expect(fact([...billing.holds].filter(([, { state }]) => state === 'held').map(([id]) => id))).toEqual(
    fact(alive ? [task?.id] : []),
  );
  // a visible task keeps its staged media; a hidden one has none
  const removed = new Set(world.media.unstaged);
  expect(fact([...new Set(world.media.staged.map(({ taskId }) => taskId))].filter((id) => removed.has(id)))).toEqual(
    fact(alive || world.media.staged.length === 0 ? [] : [task?.id]),
  );
  // the task is counted only where it is in flight
  const channel = attempts.at(-1)?.channel;
  const counted = SCOPES.filter(
    (scope) => alive && (!scope.startsWith('channel:') || scope === `channel:${channel ?? ''}`),
  );
  expect(fact(await Promise.all(SCOPES.map((scope) => deps.store.inFlight(scope))))).toEqual(
    fact(SCOPES.map((scope) => (counted.includes(scope) ? 1 : 0))),
  );
}

describe.each(SCENARIOS)('a process death while $name', (scenario) => {
  test.each<Moment>(['before', 'after'])('%s any step loses nothing, and submits nothing twice', async (moment) => {
    const { length: steps } = await callsOf(scenario);
    expect(steps).toBeGreaterThan(2);
    expect(steps).toBeLessThan(STEPS_MAX);

    for (let step = 1; step <= steps; step += 1) {
      const world = await afterDeathAt(scenario, step, moment);
      const at = `${moment} step ${step}`;
      const submissions = world.upstream.submitted.length;

      await world.clock.advance(MINUTE_MS);
      await settleFinished(world.deps);
      await assertKept(world, at);

      await world.clock.advance(MINUTE_MS);
      await reconcileUnknown(world.deps);
      const task = await onlyTask(world);
      const waiting = (await world.deps.store.listOpenAttention()).map(({ taskId, reason }) => `${taskId} ${reason}`);
      expect({ at, waiting }).toEqual({
        at,
        waiting: task?.admission === 'unknown' ? [`${task.id} unknown_outcome`] : [],
      });

      const again = await world.restart();
      await newProcessLiveness(again.deps, true).recoverAtStart();
      await settleFinished(again.deps);
      await assertKept(again, `${at}, and once more`);
      expect({ at, submissions: again.upstream.submitted.length }).toEqual({ at, submissions });
    }
  });
});

describe('the key of an interrupted create', () => {
  test('returns the surviving task, and submits nothing again', async () => {
    const scenario = SCENARIOS[0]!;
    const { length: steps } = await callsOf(scenario);
    for (let step = 1; step <= steps; step += 1) {
      const world = await afterDeathAt(scenario, step, 'after');
      const [alive] = await seenByOwner(world);
      const submissions = world.upstream.submitted.length;

      const { task, replayed } = await create(world, scenario.order);

      expect({ step, replayed }).toEqual({ step, replayed: alive !== undefined });
      if (alive !== undefined) expect(task.id).toBe(alive.id);
      expect(world.upstream.submitted).toHaveLength(submissions + (alive === undefined ? 1 : 0));
    }
  });
});

test('work that the upstream accepted before the process died is found in its list, and continues', async () => {
  const scenario = SCENARIOS[0]!;
  const world = await afterDeathAt(scenario, (await callsOf(scenario)).indexOf('first.submit') + 1, 'after');
  expect((await onlyTask(world))?.admission).toBe('unknown');
  world.upstream.works = [aWork({ upstreamId: 'up-1', createdAt: world.clock.now() })];

  expect(await reconcileUnknown(world.deps)).toBe(1);

  const task = await onlyTask(world);
  expect(task).toMatchObject({ admission: 'accepted', mapping: { channel: 'first', upstreamId: 'up-1' } });
  expect(await outcomes(world.deps.store, task!.id)).toEqual(['unknown']);
  expect(world.upstream.submitted).toHaveLength(1);
});

describe('a process death during the recovery from another death', () => {
  test.each<[string, string, Moment]>([
    ['a create that was never submitted', 'billing.placeHold', 'after'],
    ['a submission without an answer', 'first.submit', 'after'],
    ['an attempt before its submission', 'first.submit', 'before'],
  ])('leaves the rest to the next process: %s', async (_what, call, moment) => {
    const scenario = SCENARIOS[0]!;
    const step = (await callsOf(scenario)).indexOf(call) + 1;
    for (let second = 1; second <= 2 * RECOVERY_STEPS; second += 1) {
      const dying = await leftByDeathAt(scenario, step, moment);
      const death = dieAt(dying.journal, Math.ceil(second / 2), second % 2 === 0 ? 'after' : 'before');
      void newProcessLiveness(dying.deps, true).recoverAtStart();
      await death;
      const world = await dying.restart();
      await newProcessLiveness(world.deps, true).recoverAtStart();
      await world.clock.advance(MINUTE_MS);
      await settleFinished(world.deps);
      await assertKept(world, `at the ${second}th moment of the recovery`);
    }
  });
});
