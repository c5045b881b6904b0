import { describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { channelSettings } from '../../testing/channel-settings.ts';
import { LOST, refused } from '../../testing/fake-upstream.ts';
import { useWorlds } from '../../testing/open-world.ts';
import type { World } from '../../testing/open-world.ts';
import { aText, anImage, anOrder } from '../../testing/orders.ts';
import { dieAt } from '../../testing/process-death.ts';
import type { Moment } from '../../testing/process-death.ts';
import { cancelTask } from '../operations/ends/cancel-task.ts';
import type { Task } from '../domain/task.ts';
import { newProcessLiveness } from './process-liveness.ts';
import { settleFinished } from './settle-finished.ts';
import { turnTaker } from './take-turns.ts';

const open = useWorlds();
const MINUTE_MS = 60_000;
const STEPS_MAX = 60;
const OPTIONS = {
  channels: [channelSettings({ inFlightMax: 1 })],
  queue: {
    perAccount: 100,
    total: 200,
    longestWaitMs: { interactive: MINUTE_MS, standard: 60 * MINUTE_MS, batch: 600 * MINUTE_MS },
  },
};
const SCOPES = ['token:token_1', 'total', 'channel:main'];
const KEY = { idempotency: { key: 'k', fingerprint: 'f' } };
const ORDER = anOrder({ content: [aText(), anImage('first_frame')] });

const beginTurns = async ({ deps }: World): Promise<void> => {
  const turns = turnTaker(
    deps,
    () => 1,
    () => undefined,
  );
  await turns.pass();
};
const takeTurns = async (world: World): Promise<void> => {
  await beginTurns(world);
  await until(() => world.deps.creating.size === 0);
};
const create = (world: World): Promise<unknown> => world.create(ORDER, KEY).catch(() => undefined);

/** What one process does, from a full channel to the end of the turn. */
async function live(world: World): Promise<void> {
  await create(world);
  const [first] = await world.deps.store.list({ accountId: 'acme', states: ['queued'] }, { limit: 1, ascending: true });
  await world.deps.store.finish(first?.id ?? '', { state: 'failed', at: world.clock.now() });
  await beginTurns(world);
}

const SCENARIOS: readonly { readonly name: string; readonly prepare: (world: World) => void }[] = [
  { name: 'the upstream accepts the task at its turn', prepare: () => undefined },
  {
    name: 'the upstream throttles it at its turn',
    prepare: ({ upstream }) => upstream.answer('main', refused('throttle')),
  },
  { name: 'the upstream refuses its content', prepare: ({ upstream }) => upstream.answer('main', refused('content')) },
  { name: 'the answer of its turn is lost', prepare: ({ upstream }) => upstream.answer('main', LOST) },
];

/** A world whose only channel is full. */
async function openFull(prepare: (world: World) => void): Promise<World> {
  const world = await open(OPTIONS);
  await world.create();
  await world.clock.advance(MINUTE_MS);
  prepare(world);
  world.journal.clear();
  return world;
}

async function countSteps(prepare: (world: World) => void): Promise<number> {
  const world = await openFull(prepare);
  await live(world);
  await until(() => world.deps.creating.size === 0);
  return world.journal.names().length;
}

async function findSecond({ deps }: World): Promise<Task | undefined> {
  const all = await deps.store.list({ hidden: true }, { limit: 9, ascending: true });
  return all[1];
}

/** Ends what is left, and checks that nothing was lost, sent twice or counted for ever. */
async function assertKept(world: World, at: string): Promise<void> {
  const { deps, clock } = world;
  const [first] = await deps.store.list({ hidden: true }, { limit: 1, ascending: true });
  await deps.store.finish(first?.id ?? '', { state: 'failed', at: clock.now() });
  for (let turn = 0; turn < 3; turn += 1) {
    await clock.advance(MINUTE_MS);
    await takeTurns(world);
  }
  await settleFinished(deps);
  await assertOutcome(world, at);
}

async function assertOutcome(world: World, at: string): Promise<void> {
  const { deps, billing, upstream } = world;
  const task = await findSecond(world);
  const sent = task === undefined ? [] : upstream.submitted.filter(({ attempt }) => attempt.key.startsWith(task.id));
  const taken = sent.filter(({ upstreamId }) => upstreamId === task?.mapping?.upstreamId);
  const isOpen = task?.admission === 'accepted' && task.state === 'queued';
  const isUnknown = task?.admission === 'unknown';
  expect({ at, taken: taken.length }).toEqual({ at, taken: isOpen ? 1 : 0 });
  expect({ at, waits: task?.admission === 'waiting' }).toEqual({ at, waits: false });
  expect({ at, held: task && billing.holds.get(task.id)?.state === 'held' }).toEqual({
    at,
    held: task && (isOpen || isUnknown),
  });
  const counts = await Promise.all(SCOPES.map((scope) => deps.store.inFlight(scope)));
  const counted = isOpen || isUnknown ? 1 : 0;
  expect({ at, counts }).toEqual({ at, counts: [counted, counted, counted] });
  expect({ at, waiting: await deps.store.countWaiting('acme') }).toEqual({ at, waiting: { ofAccount: 0, total: 0 } });
}

describe.each(SCENARIOS)('a process death while $name', ({ prepare }) => {
  test.each<Moment>(['before', 'after'])('%s any step loses nothing, and submits nothing twice', async (moment) => {
    const steps = await countSteps(prepare);
    expect(steps).toBeGreaterThan(10);
    expect(steps).toBeLessThan(STEPS_MAX);

    for (let step = 1; step <= steps; step += 1) {
      const dying = await openFull(prepare);
      const death = dieAt(dying.journal, step, moment);
      void live(dying);
      await death;
      const sentBefore = dying.upstream.submitted.length;
      const world = await dying.restart();
      await newProcessLiveness(world.deps, true).recoverAtStart();
      const task = await findSecond(world);
      const wasUnknown = task?.admission === 'unknown';

      await assertKept(world, `${moment} step ${step}`);
      // a task whose answer may be lost is never sent again
      if (wasUnknown) expect({ step, sent: world.upstream.submitted.length }).toEqual({ step, sent: sentBefore });
    }
  });
});

test('a repeat with the key returns the task that waited when its process died, and sends nothing', async () => {
  const dying = await openFull(() => undefined);
  await create(dying);
  const world = await dying.restart();
  await newProcessLiveness(world.deps, true).recoverAtStart();

  const task = await findSecond(world);
  expect(await world.create(ORDER, KEY)).toMatchObject({
    task: { id: task?.id, admission: 'waiting' },
    replayed: true,
  });
  expect(world.upstream.submitted).toHaveLength(1);
});

test('a cancel and a turn at the same moment end in one of them', async () => {
  for (const isCancelFirst of [true, false]) {
    const world = await openFull(() => undefined);
    await create(world);
    const [first] = await world.deps.store.list({ accountId: 'acme' }, { limit: 1, ascending: true });
    await world.deps.store.finish(first?.id ?? '', { state: 'failed', at: world.clock.now() });
    const { id = '' } = (await findSecond(world)) ?? {};
    const cancel = (): Promise<unknown> =>
      cancelTask(world.deps, 'acme', id, new AbortController().signal).catch(() => undefined);
    await Promise.all(isCancelFirst ? [cancel(), takeTurns(world)] : [takeTurns(world), cancel()]);

    const task = await findSecond(world);
    const sent = world.upstream.submitted.length - 1;
    expect([task?.state, sent]).toEqual(task?.mapping === undefined ? ['failed', 0] : [task.state, 1]);
  }
});
