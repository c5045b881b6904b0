import { describe, expect, test } from '@jest/globals';
import { useWorlds } from '../../testing/open-world.ts';
import type { World } from '../../testing/open-world.ts';
import { accepted, begun, numbered } from '../../testing/store/opened-store.ts';
import { HEARTBEAT_MS, MISSED_HEARTBEATS_MAX, newProcessLiveness } from './process-liveness.ts';
import type { ProcessLiveness } from './process-liveness.ts';

const open = useWorlds();
const ADVANCES_MAX = 100;
const HOUR_MS = 3600 * 1000;

const admissions = async ({ deps }: World): Promise<string[]> =>
  (await deps.store.list({ hidden: true }, { limit: 1000 })).map(({ admission }) => admission);
const claim = ({ deps, clock }: World, owner: string) =>
  deps.store.claimDue('main', { now: clock.now(), leaseUntil: clock.now() + 1e6, limit: 10, owner });

/** A world beside another process that has begun a create and sent one heartbeat. */
async function besideAnother() {
  const world = await open();
  await begun(world.deps.store, 'task_1', { owner: 'proc_other', createdAt: world.clock.now() });
  await world.deps.store.heartbeat('proc_other', 1);
  return { world, liveness: newProcessLiveness(world.deps, false) };
}

/** A heartbeat, and what follows from it. */
async function passOf(liveness: ProcessLiveness): Promise<void> {
  await liveness.beat();
  await liveness.takeOver();
}

describe('a pass', () => {
  test('writes the heartbeat of this process', async () => {
    const world = await open();

    await passOf(newProcessLiveness(world.deps, false));

    expect(await world.deps.store.heartbeats()).toEqual(new Map([[world.deps.processId, world.clock.now()]]));
  });

  test('takes over the creates of a process only after it was silent for the limit of passes', async () => {
    const { world, liveness } = await besideAnother();
    for (let pass = 0; pass < MISSED_HEARTBEATS_MAX; pass += 1) await passOf(liveness);
    expect(await admissions(world)).toEqual(['submitting']);

    await passOf(liveness);

    expect(await admissions(world)).toEqual(['refused']);
  });

  test('leaves the creates of a process whose heartbeat changes, whatever its time', async () => {
    const { world, liveness } = await besideAnother();
    for (const heartbeat of [5, 4, 900, 3, 2, 1, 7, 6, 5, 1e15]) {
      await world.deps.store.heartbeat('proc_other', heartbeat);
      await passOf(liveness);
    }

    expect(await admissions(world)).toEqual(['submitting']);
  });

  test.each([5 * HOUR_MS, -5 * HOUR_MS])('takes no process for dead because the clock jumps by %d ms', async (jump) => {
    const { world, liveness } = await besideAnother();
    await passOf(liveness);
    await world.clock.advance(jump);
    for (let pass = 1; pass < MISSED_HEARTBEATS_MAX; pass += 1) await passOf(liveness);

    expect(await admissions(world)).toEqual(['submitting']);
  });

  test('takes no process for dead because the database was down', async () => {
    const { world, liveness } = await besideAnother();
    await passOf(liveness);
    world.journal.fail('store.heartbeat', new Error('the database is away'), 20);
    for (let pass = 0; pass < 20; pass += 1) await expect(passOf(liveness)).rejects.toThrow('away');
    await passOf(liveness);

    expect(await admissions(world)).toEqual(['submitting']);
  });

  test('frees the leases of a silent process, and no others', async () => {
    const world = await open();
    for (const id of ['task_1', 'task_2']) await accepted(world.deps.store, id, { nextPollAt: 0 });
    await world.deps.store.heartbeat('proc_other', world.clock.now());
    await world.deps.store.claimDue('main', {
      now: 1e9,
      leaseUntil: Number.MAX_SAFE_INTEGER,
      limit: 1,
      owner: 'proc_other',
    });
    await world.deps.store.claimDue('main', {
      now: 1e9,
      leaseUntil: Number.MAX_SAFE_INTEGER,
      limit: 1,
      owner: world.deps.processId,
    });

    const liveness = newProcessLiveness(world.deps, false);
    for (let pass = 0; pass <= MISSED_HEARTBEATS_MAX; pass += 1) await passOf(liveness);

    expect((await claim(world, 'proc_new')).map(({ id }) => id)).toEqual(['task_1']);
    expect([...(await world.deps.store.heartbeats()).keys()]).toEqual([world.deps.processId]);
  });
});

describe('a process', () => {
  test('is known to be alive only while no other may take it for dead', async () => {
    const world = await open();
    const liveness = newProcessLiveness(world.deps, false);
    expect(liveness.isKnownAlive()).toBe(false);
    await liveness.beat();
    await world.clock.advance((MISSED_HEARTBEATS_MAX - 2) * HEARTBEAT_MS - 1);
    expect(liveness.isKnownAlive()).toBe(true);

    await world.clock.advance(1);

    expect(liveness.isKnownAlive()).toBe(false);
    await liveness.beat();
    expect(liveness.isKnownAlive()).toBe(true);
  });

  test('is not known to be alive by a heartbeat that fails', async () => {
    const world = await open();
    const store = { ...world.deps.store, heartbeat: () => Promise.reject(new Error('the database is away')) };
    const liveness = newProcessLiveness({ ...world.deps, store }, false);

    await expect(liveness.beat()).rejects.toThrow('the database is away');

    expect(liveness.isKnownAlive()).toBe(false);
  });

  test('that is alone on its database is always known to be alive', async () => {
    const world = await open();

    expect(newProcessLiveness(world.deps, true).isKnownAlive()).toBe(true);
  });
});

describe('the clocks', () => {
  const lookAt = async (ahead: number): Promise<ProcessLiveness> => {
    const world = await open();
    const liveness = newProcessLiveness(world.deps, false);
    for (let pass = 0; pass < 3; pass += 1) {
      await world.clock.advance(HEARTBEAT_MS);
      await world.deps.store.heartbeat('proc_other', world.clock.now() + ahead);
      await liveness.beat();
    }
    return liveness;
  };

  test('of processes that agree are trusted', async () => {
    expect((await lookAt(0)).areClocksTrusted()).toBe(true);
  });

  test.each([10 * 60_000, -10 * 60_000])('of processes that differ by %d ms are not trusted', async (ahead) => {
    expect((await lookAt(ahead)).areClocksTrusted()).toBe(false);
  });

  test('stay trusted although one heartbeat waited for a slow database', async () => {
    const world = await open();
    const liveness = newProcessLiveness(world.deps, false);
    for (const late of [0, 10 * 60_000, 0, 10 * 60_000, 0]) {
      await world.clock.advance(HEARTBEAT_MS);
      await world.deps.store.heartbeat('proc_other', world.clock.now() - late);
      await liveness.beat();
    }

    expect(liveness.areClocksTrusted()).toBe(true);
    expect(await world.deps.store.listClockDoubts(0)).toEqual([]);
  });

  test('that were wrong are known to later processes, hour by hour', async () => {
    const world = await open();
    const [liveness, begin] = [newProcessLiveness(world.deps, true), world.clock.now()];
    await liveness.beat();
    for (let hour = 1; hour <= 3; hour += 1) {
      await world.clock.advance(HOUR_MS);
      await liveness.beat();
      await liveness.beat();
    }

    const hours = [1, 2, 3].map((hour) => Math.floor(begin / HOUR_MS + hour) * HOUR_MS);
    expect(await world.deps.store.listClockDoubts(0)).toEqual(hours);
  });

  test('of this process is not trusted once it was set', async () => {
    const world = await open();
    const liveness = newProcessLiveness(world.deps, true);
    await liveness.beat();
    expect(liveness.areClocksTrusted()).toBe(true);

    await world.clock.advance(HOUR_MS);

    expect(liveness.areClocksTrusted()).toBe(false);
  });
});

test('the creates of a process that starts between a heartbeat and the takeover stay its own', async () => {
  const { world, liveness } = await besideAnother();
  await liveness.beat();
  await world.deps.store.heartbeat('proc_new', 1);
  await begun(world.deps.store, 'task_2', { owner: 'proc_new', createdAt: world.clock.now() });

  await liveness.takeOver();

  expect(await admissions(world)).toEqual(['submitting', 'submitting']);
});

test('a process that was wrongly taken for dead keeps the creates that it begins after that', async () => {
  const { world, liveness } = await besideAnother();
  for (let pass = 0; pass <= MISSED_HEARTBEATS_MAX; pass += 1) await passOf(liveness);
  await world.deps.store.heartbeat('proc_other', 2);
  await begun(world.deps.store, 'task_2', { owner: 'proc_other', createdAt: world.clock.now() });

  await liveness.takeOver();

  expect((await world.deps.store.find('task_2'))?.admission).toBe('submitting');
});

describe('a start', () => {
  test('on a database of its own recovers every interrupted create at once', async () => {
    const world = await open();
    for (const id of numbered(250))
      await begun(world.deps.store, id, { owner: 'proc_dead', createdAt: world.clock.now(), caps: [] });
    await world.deps.store.heartbeat('proc_dead', world.clock.now());

    await newProcessLiveness(world.deps, true).recoverAtStart();

    expect(new Set(await admissions(world))).toEqual(new Set(['refused']));
  });

  test('on a database of its own frees the leases of dead processes at once', async () => {
    const world = await open();
    await world.deps.store.heartbeat('proc_dead', world.clock.now());
    await accepted(world.deps.store, 'task_1', { nextPollAt: world.clock.now() });
    await claim(world, 'proc_dead');

    await newProcessLiveness(world.deps, true).recoverAtStart();

    expect(await claim(world, world.deps.processId)).toHaveLength(1);
  });

  test('beside other processes waits until a dead one is known to be silent', async () => {
    const { world, liveness } = await besideAnother();
    let ready = false;
    const starting = liveness.recoverAtStart().then(() => {
      ready = true;
    });

    for (let pass = 1; pass < MISSED_HEARTBEATS_MAX; pass += 1) await world.clock.advance(HEARTBEAT_MS);
    expect([ready, await admissions(world)]).toEqual([false, ['submitting']]);

    for (let turn = 0; turn < ADVANCES_MAX && !ready; turn += 1) await world.clock.advance(HEARTBEAT_MS);
    await starting;
    expect(await admissions(world)).toEqual(['refused']);
  });

  test('beside other processes does not wait for a living one', async () => {
    const { world, liveness } = await besideAnother();
    let ready = false;
    const starting = liveness.recoverAtStart().then(() => {
      ready = true;
    });

    let passes = 0;
    for (; passes < ADVANCES_MAX && !ready; passes += 1) {
      await world.deps.store.heartbeat('proc_other', passes + 2);
      await world.clock.advance(HEARTBEAT_MS);
    }
    await starting;

    expect(passes).toBeLessThan(MISSED_HEARTBEATS_MAX);
    expect(await admissions(world)).toEqual(['submitting']);
  });

  test('takes over the creates of a process at once after its announced stop', async () => {
    const world = await open();
    await begun(world.deps.store, 'task_1', { owner: 'proc_gone', createdAt: world.clock.now() });

    await newProcessLiveness(world.deps, false).recoverAtStart();

    expect(await admissions(world)).toEqual(['refused']);
  });

  test('with nothing to recover does not wait', async () => {
    const world = await open();

    await newProcessLiveness(world.deps, false).recoverAtStart();
    await newProcessLiveness(world.deps, true).recoverAtStart();
  });
});
