import { describe, expect, test } from '@jest/globals';
import { useWorlds } from '../../testing/open-world.ts';
import type { World } from '../../testing/open-world.ts';
import { accepted, begun, numbered } from '../../testing/store/opened-store.ts';
import { SILENCE_MS, keepAlive, recoverAtStart } from './keep-alive.ts';

const open = useWorlds();
const TURNS_MAX = 1000;

const admissions = async ({ deps }: World): Promise<string[]> => (await deps.store.list({ hidden: true }, { limit: 1000 })).map(({ admission }) => admission);
const claim = ({ deps, clock }: World, owner: string) => deps.store.claimDue('main', { now: clock.now(), leaseUntil: clock.now() + 1e6, limit: 10, owner });

describe('a pass', () => {
  test('says that this process lives', async () => {
    const world = await open();

    await keepAlive(world.deps);

    expect(await world.deps.store.aliveSince(world.clock.now())).toEqual([world.deps.processId]);
  });

  test('leaves creates of a process alone that was heard of lately, and takes over those of a silent one', async () => {
    const world = await open();
    await begun(world.deps.store, 'task_1', { owner: 'proc_other', createdAt: world.clock.now() });
    await world.deps.store.beat('proc_other', world.clock.now());

    await world.clock.advance(SILENCE_MS);
    await keepAlive(world.deps);
    expect(await admissions(world)).toEqual(['submitting']);

    await world.clock.advance(1);
    await keepAlive(world.deps);
    expect(await admissions(world)).toEqual(['refused']);
  });

  test('frees what a silent process was looking at, and nobody else\'s', async () => {
    const world = await open();
    for (const id of ['task_1', 'task_2']) await accepted(world.deps.store, id, { nextPollAt: 0 });
    await world.deps.store.beat('proc_other', world.clock.now());
    await world.deps.store.claimDue('main', { now: 1e9, leaseUntil: Number.MAX_SAFE_INTEGER, limit: 1, owner: 'proc_other' });
    await world.deps.store.claimDue('main', { now: 1e9, leaseUntil: Number.MAX_SAFE_INTEGER, limit: 1, owner: world.deps.processId });

    await world.clock.advance(SILENCE_MS + 1);
    await keepAlive(world.deps);

    expect((await claim(world, 'proc_new')).map(({ id }) => id)).toEqual(['task_1']);
    expect(await world.deps.store.silentSince(Number.MAX_SAFE_INTEGER)).toEqual([world.deps.processId]);
  });
});

describe('a start', () => {
  test('on a database of its own settles at once everything that was cut off, however much', async () => {
    const world = await open();
    for (const id of numbered(250)) await begun(world.deps.store, id, { owner: 'proc_dead', createdAt: world.clock.now(), caps: [] });
    await world.deps.store.beat('proc_dead', world.clock.now());

    await recoverAtStart(world.deps, true);

    expect(new Set(await admissions(world))).toEqual(new Set(['refused']));
  });

  test('on a database of its own looks again at once at what was being looked at', async () => {
    const world = await open();
    await world.deps.store.beat('proc_dead', world.clock.now());
    await accepted(world.deps.store, 'task_1', { nextPollAt: world.clock.now() });
    await claim(world, 'proc_dead');

    await recoverAtStart(world.deps, true);

    expect(await claim(world, world.deps.processId)).toHaveLength(1);
  });

  test('beside other processes waits until a dead one is known to be silent', async () => {
    const world = await open();
    await world.deps.store.beat('proc_dead', world.clock.now());
    await begun(world.deps.store, 'task_1', { owner: 'proc_dead', createdAt: world.clock.now() });
    let ready = false;
    const starting = recoverAtStart(world.deps, false).then(() => {
      ready = true;
    });

    await world.clock.advance(SILENCE_MS - 500);
    expect([ready, await admissions(world)]).toEqual([false, ['submitting']]);

    for (let turn = 0; turn < TURNS_MAX && !ready; turn += 1) await world.clock.advance(500);
    await starting;
    expect(await admissions(world)).toEqual(['refused']);
  });

  test('beside other processes does not wait for ever for one that lives', async () => {
    const world = await open();
    await begun(world.deps.store, 'task_1', { owner: 'proc_alive', createdAt: world.clock.now() });
    let ready = false;
    const starting = recoverAtStart(world.deps, false).then(() => {
      ready = true;
    });

    const begunAt = world.clock.now();
    for (let turn = 0; turn < TURNS_MAX && !ready; turn += 1) {
      await world.deps.store.beat('proc_alive', world.clock.now() + 500);
      await world.clock.advance(500);
    }
    await starting;

    expect(world.clock.now() - begunAt).toBeLessThan(2 * SILENCE_MS);
    expect(await admissions(world)).toEqual(['submitting']);
  });

  test('with nothing to settle waits for nothing', async () => {
    const world = await open();

    await recoverAtStart(world.deps, false);
    await recoverAtStart(world.deps, true);
  });
});
