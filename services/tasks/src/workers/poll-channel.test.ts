import { describe, expect, test } from '@jest/globals';
import { channelSettings } from '../../testing/channel-settings.ts';
import { succeeded } from '../../testing/fake-upstream.ts';
import { useWorlds } from '../../testing/open-world.ts';
import type { World, WorldOptions } from '../../testing/open-world.ts';
import { accepted as acceptedTask } from '../../testing/store/opened-store.ts';
import type { PollResult } from '../channels/channel.ts';
import { channelPoller } from './poll-channel.ts';
import type { ChannelPoller } from './poll-channel.ts';

const open = useWorlds();
const LEASE_MS = 15 * 60_000;
const PARALLEL_MAX = 64;
const error: PollResult = { found: false, gone: false, error: 'HTTP 500' };
const gone: PollResult = { found: false, gone: true, error: 'invalid task_id (2013)' };

const pollerOf = ({ deps }: World): ChannelPoller => channelPoller(deps, () => deps.channels.find('main'));

/** A world with `count` due tasks on its channel. */
async function withDue(count: number, options: WorldOptions = {}) {
  const world = await open(options);
  const ids = Array.from({ length: count }, (_, index) => `task_${String(index).padStart(3, '0')}`);
  for (const id of ids)
    await acceptedTask(world.deps.store, id, { createdAt: world.clock.now(), caps: [], nextPollAt: world.clock.now() });
  return { world, ids, poller: pollerOf(world) };
}

/** A world with one due task. */
async function withOneDue(options: WorldOptions = {}) {
  const { world, ids, poller } = await withDue(1, options);
  return { world, id: ids[0] ?? '', poller };
}

/** Polls wait until they are released, one by its upstream id or all. */
function holdPolls({ journal }: World) {
  const held = new Map<string, () => void>();
  let most = 0;
  journal.put(async ({ name, args: [upstreamId] }, proceed) => {
    if (name !== 'main.poll') return proceed();
    const gate = Promise.withResolvers<undefined>();
    held.set(String(upstreamId), () => gate.resolve(undefined));
    most = Math.max(most, held.size);
    await gate.promise;
    held.delete(String(upstreamId));
    return proceed();
  });
  return {
    held,
    most: () => most,
    letGo: (upstreamId: string): void => held.get(upstreamId)?.(),
    letAllGo: (): void => held.forEach((go) => go()),
  };
}

async function passAndWait({
  world,
  poller,
}: {
  readonly world: World;
  readonly poller: ChannelPoller;
}): Promise<number> {
  const result = await poller.pass('main');
  const taken = typeof result === 'number' ? result : 0;
  await poller.idle();
  expect(world.journal.names().filter((name) => name === 'main.poll').length).toBeGreaterThanOrEqual(taken);
  return taken;
}

/**
 * Polls a task once for each result, a minute apart; undefined: the work is running. Returns the reasons to decide
 * after each poll.
 */
async function pollEach(
  { world, id, poller }: Awaited<ReturnType<typeof withOneDue>>,
  results: readonly (PollResult | undefined)[],
): Promise<string[][]> {
  const reasons: string[][] = [];
  for (const polled of results) {
    if (polled === undefined) world.upstream.pollResults.delete(`up-${id}`);
    else world.upstream.pollResults.set(`up-${id}`, polled);
    await passAndWait({ world, poller });
    reasons.push((await world.deps.store.listOpenAttention()).map(({ reason }) => reason));
    await world.clock.advance(60_000);
  }
  return reasons;
}

test('a task whose every poll is answered with a wait leaves its channel to the others most of the time', async () => {
  const WAIT_MS = 30_000;
  const { world, ids, poller } = await withDue(2);
  const [poisoned = '', other = ''] = ids.map((id) => `up-${id}`);
  world.upstream.pollResults.set(poisoned, error);
  world.journal.put(async ({ name, args: [upstreamId] }, proceed) => {
    const result = await proceed();
    if (name === 'main.poll' && upstreamId === poisoned)
      world.deps.channels.find('main')?.askToWait(['reads'], WAIT_MS);
    return result;
  });
  for (let passed = 0; passed < 60 * 60_000; passed += 5000) {
    await passAndWait({ world, poller });
    await world.clock.advance(5000);
  }
  const countPolls = (upstreamId: string): number =>
    world.journal.calls.filter(({ name, args }) => name === 'main.poll' && args[0] === upstreamId).length;

  expect(countPolls(poisoned)).toBeLessThan(15);
  expect(countPolls(other)).toBeGreaterThan(150);
});

describe('a pass', () => {
  test('polls every due task once', async () => {
    const { world, ids, poller } = await withDue(3);

    expect(await passAndWait({ world, poller })).toBe(3);
    expect(await passAndWait({ world, poller })).toBe(0);

    for (const id of ids)
      expect(await world.deps.store.find(id)).toMatchObject({ state: 'in_progress', upstreamStatus: 'running' });
    expect(world.counted.filter((word) => word === 'poll main running')).toHaveLength(3);
  });

  test('leases nothing while another process may take this one for dead', async () => {
    let isKnownAlive = false;
    const { world, poller } = await withOneDue({ isKnownAlive: () => isKnownAlive });
    expect(await passAndWait({ world, poller })).toBe(0);
    expect(await world.deps.store.listLeasedIds('main', world.deps.processId)).toEqual([]);
    expect(world.journal.names()).not.toContain('main.poll');

    isKnownAlive = true;
    await passAndWait({ world, poller });

    expect(world.journal.names().filter((name) => name === 'main.poll')).toHaveLength(1);
  });

  test('polls no task of another channel, and no task before it is due', async () => {
    const world = await open({ channels: [channelSettings(), channelSettings({ id: 'spare' })] });
    await acceptedTask(world.deps.store, 'task_1', { channel: 'spare', nextPollAt: 0 });
    const { task } = await world.create();

    expect(await pollerOf(world).pass('main')).toEqual({ dueAt: task.nextPollAt });
  });

  test('polls new tasks for the first time at the distances of their creates', async () => {
    const world = await open();
    const { task: first } = await world.create();
    await world.clock.advance(70);
    const { task: second } = await world.create();

    expect(first.nextPollAt).toBe(first.updatedAt + world.deps.pollPlan.firstMs);
    expect(second.nextPollAt! - first.nextPollAt!).toBe(70);
  });

  test('ends every task that has ended upstream, failed or completed', async () => {
    const {
      world,
      ids: [one = '', other = ''],
      poller,
    } = await withDue(2);
    world.upstream.pollResults.set(`up-${one}`, succeeded());
    world.upstream.pollResults.set(`up-${other}`, {
      found: true,
      report: { phase: 'failed', status: 'failed', failure: { code: '1026', message: 'sensitive' } },
    });

    await passAndWait({ world, poller });

    expect((await world.deps.store.find(one))?.state).toBe('completed');
    expect((await world.deps.store.find(other))?.state).toBe('failed');
    expect(await world.sql.read('SELECT id FROM outbox ORDER BY id')).toEqual([{ id: one }, { id: other }]);
  });

  test('claims no task of a removed channel, and leaves it due', async () => {
    const { world, id } = await withOneDue();

    expect(await channelPoller(world.deps, () => undefined).pass('main')).toBe(0);

    expect(await passAndWait({ world, poller: pollerOf(world) })).toBe(1);
    expect((await world.deps.store.find(id))?.state).toBe('in_progress');
  });
});

describe('concurrent polls', () => {
  test('are limited in number, and the rest wait', async () => {
    const { world, poller } = await withDue(PARALLEL_MAX + 10);
    const held = holdPolls(world);

    expect(await poller.pass('main')).toBe(PARALLEL_MAX);
    await world.clock.advance(0);
    const full = poller.pass('main');
    held.letAllGo();
    expect(await full).toBe(10);
    await world.clock.advance(0);
    held.letAllGo();
    await poller.idle();

    expect(held.most()).toBe(PARALLEL_MAX);
  });

  test('that end one after another under load share a claim, which waits for a tenth of a second at most', async () => {
    const { world, ids, poller } = await withDue(PARALLEL_MAX + 40);
    const held = holdPolls(world);
    const claims = (): number => world.journal.names().filter((name) => name === 'store.claimDue').length;
    await poller.pass('main');
    await world.clock.advance(0);

    const full = poller.pass('main');
    for (const id of ids.slice(0, 15)) {
      held.letGo(`up-${id}`);
      await world.clock.advance(0);
    }
    expect(claims()).toBe(1);
    held.letGo(`up-${ids[15] ?? ''}`);
    expect(await full).toBe(16);

    const late = poller.pass('main');
    held.letGo(`up-${ids[16] ?? ''}`);
    await world.clock.advance(99);
    expect(claims()).toBe(2);
    await world.clock.advance(1);
    expect(await late).toBe(1);

    held.letAllGo();
    await poller.idle();
  });

  test('do not delay each other', async () => {
    const {
      world,
      ids: [slow = '', ...others],
      poller,
    } = await withDue(5);
    const held = holdPolls(world);

    await poller.pass('main');
    await world.clock.advance(0);
    for (const id of others) held.letGo(`up-${id}`);
    await world.clock.advance(0);

    for (const id of others) expect((await world.deps.store.find(id))?.state).toBe('in_progress');
    expect((await world.deps.store.find(slow))?.state).toBe('queued');
    await world.clock.advance(60_000);
    expect(await poller.pass('main')).toBe(others.length);
    await world.clock.advance(0);
    held.letAllGo();
    await poller.idle();
  });

  test('are not delayed by the fetch of results', async () => {
    const { world, ids, poller } = await withDue(PARALLEL_MAX + 10);
    for (const id of ids) world.upstream.pollResults.set(`up-${id}`, succeeded());
    const gate = Promise.withResolvers<undefined>();
    world.journal.put(async ({ name }, proceed) => {
      if (name === 'media.ingest') await gate.promise;
      return proceed();
    });

    expect(await poller.pass('main')).toBe(PARALLEL_MAX);
    await world.clock.advance(0);
    expect(await poller.pass('main')).toBe(10);
    await world.clock.advance(0);

    expect(world.journal.names().filter((name) => name === 'main.poll')).toHaveLength(ids.length);
    gate.resolve(undefined);
    await poller.idle();
    expect(await world.deps.store.list({ states: ['completed'] }, { limit: 1000 })).toHaveLength(ids.length);
  });

  test("keep to the channel's polls per minute, with at most one second's share in any second", async () => {
    const { world, poller } = await withDue(10, { channels: [channelSettings({ pollsPerMinute: 4 * 60 })] });

    expect(await passAndWait({ world, poller })).toBe(4);
    expect(await passAndWait({ world, poller })).toBe(0);

    await world.clock.advance(999);
    expect(await passAndWait({ world, poller })).toBe(0);
    await world.clock.advance(1);
    expect(await passAndWait({ world, poller })).toBe(4);
  });

  test('of two processes never poll the same task', async () => {
    const { world, poller } = await withDue(40);
    const other = channelPoller({ ...world.deps, processId: 'proc_other' }, () => world.deps.channels.find('main'));

    const taken = await Promise.all([poller.pass('main'), other.pass('main')]);
    await Promise.all([poller.idle(), other.idle()]);

    const polled = world.journal.calls.filter(({ name }) => name === 'main.poll').map(({ args }) => args[0]);
    expect(Number(taken[0]) + Number(taken[1])).toBe(40);
    expect(new Set(polled).size).toBe(polled.length);
  });
});

describe('a failed poll', () => {
  test('changes only the time of the next poll, by a longer wait each time', async () => {
    const { world, id, poller } = await withOneDue();
    world.upstream.pollResults.set(`up-${id}`, error);
    const waits: number[] = [];
    for (let errors = 1; errors <= 8; errors += 1) {
      await passAndWait({ world, poller });
      const task = await world.deps.store.find(id);
      expect(task).toMatchObject({ state: 'queued', pollErrors: errors });
      waits.push(task!.nextPollAt! - world.clock.now());
      await world.clock.advance(waits.at(-1)!);
    }

    expect(waits).toEqual([6000, 12_000, 24_000, 48_000, 60_000, 60_000, 60_000, 60_000]);
    expect(await world.deps.store.listOpenAttention()).toEqual([]);
    expect((await world.deps.store.events(id)).filter(({ type }) => type === 'look_failed')).toHaveLength(1);
  });

  test('never fails a task, even after many repetitions', async () => {
    const { world, id, poller } = await withOneDue();
    await pollEach(
      { world, id, poller },
      Array.from({ length: 100 }, () => error),
    );

    expect(await world.deps.store.find(id)).toMatchObject({ state: 'queued', pollErrors: 100 });
    expect(world.journal.names()).not.toContain('store.finish');

    world.upstream.pollResults.set(`up-${id}`, succeeded());
    await passAndWait({ world, poller });
    expect(await world.deps.store.find(id)).toMatchObject({ state: 'completed' });
  });

  test('because the upstream does not know the task asks for a decision after five repetitions', async () => {
    const { world, id, poller } = await withOneDue();
    const reasons = await pollEach({ world, id, poller }, [gone, gone, gone, gone, gone, gone]);

    expect(reasons).toEqual([[], [], [], [], ['unknown_upstream_task'], ['unknown_upstream_task']]);
    expect(await world.deps.store.find(id)).toMatchObject({ state: 'queued', pollErrors: 6 });
  });

  test('for another reason neither adds to that count nor resets it', async () => {
    const { world, id, poller } = await withOneDue();
    const results = [error, gone, error, gone, gone, error, error, gone, error, gone, succeeded()];

    const reasons = await pollEach({ world, id, poller }, results);

    expect(reasons.slice(0, -2).flat()).toEqual([]);
    expect(reasons.slice(-2)).toEqual([['unknown_upstream_task'], []]);
  });

  test('no longer counts once a poll finds the task', async () => {
    const { world, id, poller } = await withOneDue();
    await pollEach({ world, id, poller }, [gone, gone, gone, gone, undefined, gone, gone, gone, gone]);

    expect(await world.deps.store.find(id)).toMatchObject({
      pollErrors: 4,
      doubt: { reason: 'unknown_upstream_task', polls: 4 },
    });
    expect(await world.deps.store.listOpenAttention()).toEqual([]);
  });

  test.each<[string, string]>([
    ['a channel that throws', 'main.poll'],
    ['a database that fails', 'store.progress'],
    ['a media service that throws', 'media.ingest'],
  ])('because of %s is like any other', async (_what, call) => {
    const { world, id, poller } = await withOneDue();
    world.upstream.pollResults.set(`up-${id}`, call === 'store.progress' ? error : succeeded());
    world.journal.fail(call, new Error('boom'));

    await passAndWait({ world, poller });

    expect(await world.deps.store.find(id)).toMatchObject({ state: 'queued', pollErrors: 1 });
  });

  test('that cannot be stored is repeated once the database accepts writes', async () => {
    const { world, id, poller } = await withOneDue();
    world.journal.fail('store.progress', new Error('the database is away'), 2);
    world.journal.fail('store.dropLease', new Error('the database is away'), 3);
    await passAndWait({ world, poller });
    for (let tries = 0; tries < 3; tries += 1) await expect(poller.pass('main')).rejects.toThrow('away');

    expect(await passAndWait({ world, poller })).toBe(1);
    expect(await world.deps.store.find(id)).toMatchObject({ state: 'in_progress' });
  });

  test('whose claim got no answer from the database is made in the next pass', async () => {
    const { world, ids, poller } = await withDue(3);
    world.journal.put(async ({ name }, proceed) => {
      const answer = await proceed();
      if (name === 'store.claimDue') throw new Error('the line was cut');
      return answer;
    });
    await expect(poller.pass('main')).rejects.toThrow('cut');
    world.journal.put((_call, proceed) => proceed());

    expect(await passAndWait({ world, poller })).toBe(ids.length);
    for (const id of ids) expect(await world.deps.store.find(id)).toMatchObject({ state: 'in_progress' });
  });

  test('that a dead process could not store is repeated after its lease', async () => {
    const { world, id, poller } = await withOneDue();
    world.journal.fail('store.progress', new Error('the database is away'), 2);
    await passAndWait({ world, poller });
    const other = {
      world,
      poller: channelPoller({ ...world.deps, processId: 'proc_other' }, () => world.deps.channels.find('main')),
    };

    await world.clock.advance(LEASE_MS - 1);
    expect(await passAndWait(other)).toBe(0);

    await world.clock.advance(1);
    expect(await passAndWait(other)).toBe(1);
    expect(await world.deps.store.find(id)).toMatchObject({ state: 'in_progress' });
  });
});

describe('where one call polls several works', () => {
  const PER_CALL = 50;

  test('each task gets its own report', async () => {
    const { world, ids, poller } = await withDue(2);
    world.upstream.pollManyMax = PER_CALL;
    const finds = await Promise.all(ids.map((id) => world.deps.store.find(id)));
    world.upstream.pollResults.set(finds[0]?.mapping?.upstreamId ?? '', succeeded());
    world.upstream.pollResults.set(finds[1]?.mapping?.upstreamId ?? '', gone);

    await poller.pass('main');
    await poller.idle();

    expect(await world.deps.store.find(ids[0]!)).toMatchObject({ state: 'completed' });
    expect(await world.deps.store.find(ids[1]!)).toMatchObject({ state: 'queued', pollErrors: 1 });
    expect(world.journal.names().filter((name) => name.startsWith('main.poll'))).toEqual(['main.pollMany']);
  });

  test('a call without an answer says nothing about any of them', async () => {
    const { world, ids, poller } = await withDue(3);
    world.upstream.pollManyMax = PER_CALL;
    world.journal.put(async ({ name }, proceed) => {
      if (name === 'main.pollMany') throw new Error('lost');
      return proceed();
    });

    await poller.pass('main');
    await poller.idle();

    for (const id of ids) expect(await world.deps.store.find(id)).toMatchObject({ state: 'queued', pollErrors: 1 });
  });

  test('due tasks need at most a twentieth of the polls', async () => {
    const { world, poller } = await withDue(600, { channels: [channelSettings({ pollsPerMinute: 6000 })] });
    world.upstream.pollManyMax = PER_CALL;

    for (let pass = 0; pass < 200 && Number(await poller.pass('main')) > 0; pass += 1) await poller.idle();

    const calls = world.journal.names().filter((name) => name === 'main.pollMany');
    expect(calls.length).toBeGreaterThan(0);
    expect(calls.length).toBeLessThanOrEqual(600 / 20);
    expect(world.journal.names()).not.toContain('main.poll');
  });
});

test('a channel that has been asked to wait is not polled before, and work is still submitted on it', async () => {
  const { world, poller } = await withDue(3);
  world.deps.channels.find('main')?.askToWait(['reads'], 4000);

  await poller.pass('main');
  await world.clock.advance(3999);
  await poller.pass('main');
  expect(world.counted.filter((one) => one.startsWith('poll'))).toEqual([]);
  expect((await world.create()).task.admission).toBe('accepted');

  await world.clock.advance(1);
  await poller.pass('main');
  await poller.idle();
  expect(world.counted.filter((one) => one.startsWith('poll'))).toHaveLength(3);
});
