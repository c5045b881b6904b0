import { expect, test } from '@jest/globals';
import { LOST } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import { begun, eventTypes, inFlight } from '../../../testing/store/opened-store.ts';
import { watchDeadlines } from './watch-deadlines.ts';

const open = useWorlds();
const DAY_MS = 24 * 3600 * 1000;
const YEAR_MS = 365 * DAY_MS;
const HALF_HOUR_MS = 30 * 60_000;
const DEADLINES = { softDeadlineMs: HALF_HOUR_MS, hardDeadlineMs: DAY_MS };

test('a task past the hard deadline asks for a decision, and keeps its polls and its hold', async () => {
  const world = await open();
  const { task } = await world.create();

  await world.clock.advance(DAY_MS);
  await watchDeadlines(world.deps, DEADLINES);
  expect(await world.deps.store.listOpenAttention()).toEqual([]);

  await world.clock.advance(1);
  await watchDeadlines(world.deps, DEADLINES);
  expect(await world.deps.store.listOpenAttention()).toMatchObject([{ taskId: task.id, reason: 'hard_deadline' }]);
  expect(await world.deps.store.find(task.id)).toMatchObject({
    state: 'queued',
    admission: 'accepted',
    nextPollAt: task.nextPollAt,
  });
  expect(world.billing.holds.get(task.id)?.state).toBe('held');
});

test('no amount of time fails a task, refunds it or submits it again', async () => {
  const world = await open();
  world.upstream.answer('main', LOST);
  const unknown = (await world.create()).task;
  const accepted = (await world.create()).task;

  for (let year = 0; year < 10; year += 1) {
    await world.clock.advance(YEAR_MS);
    await watchDeadlines(world.deps, DEADLINES);
  }

  for (const { id } of [unknown, accepted]) {
    expect(await world.deps.store.find(id)).toMatchObject({ state: 'queued' });
    expect(world.billing.holds.get(id)?.state).toBe('held');
  }
  expect(world.upstream.submitted).toHaveLength(2);
  expect(world.journal.names()).not.toContain('store.finish');
});

test('a task asks for a decision once, and again only after an operator chooses retry', async () => {
  const world = await open();
  const { task } = await world.create();
  await world.clock.advance(2 * DAY_MS);

  for (let pass = 0; pass < 3; pass += 1) await watchDeadlines(world.deps, DEADLINES);
  expect(world.counted.filter((word) => word === 'attention hard_deadline')).toHaveLength(1);

  await world.deps.store.resolve(task.id, { resolution: 'retry', actor: 'ann', at: world.clock.now() });
  await watchDeadlines(world.deps, DEADLINES);
  expect(world.counted.filter((word) => word === 'attention hard_deadline')).toHaveLength(2);
});

test('more tasks than one pass takes all ask for a decision', async () => {
  const world = await open({ limits: { inFlightPerToken: 1000, inFlightTotal: 1000 } });
  for (let count = 0; count < 250; count += 1) {
    const id = `task_${String(count).padStart(3, '0')}`;
    await begun(world.deps.store, id, { createdAt: 1, caps: [] });
    await world.deps.store.leaveUnknown(id, {
      number: 1,
      mapping: { channel: 'main', upstreamAccount: 'vendor' },
      error: 'lost',
      at: 1,
    });
  }

  for (let pass = 0; pass < 2; pass += 1) await watchDeadlines(world.deps, DEADLINES);

  expect(await world.deps.store.listOpenAttention()).toHaveLength(250);
});

test('a task past the soft deadline alerts the operator once, and does not wait for a decision', async () => {
  const world = await open();
  const { task } = await world.create();

  await world.clock.advance(HALF_HOUR_MS);
  expect(await watchDeadlines(world.deps, DEADLINES)).toBe(0);
  expect(world.counted).not.toContain('soft deadline');

  await world.clock.advance(1);
  expect(await watchDeadlines(world.deps, DEADLINES)).toBe(1);
  for (let pass = 0; pass < 3; pass += 1) expect(await watchDeadlines(world.deps, DEADLINES)).toBe(0);

  expect(world.counted.filter((word) => word === 'soft deadline')).toHaveLength(1);
  expect(await eventTypes(world.deps.store, task.id)).toEqual([
    'created',
    'attempt_started',
    'accepted',
    'soft_deadline',
  ]);
  expect(await world.deps.store.listOpenAttention()).toEqual([]);
  expect(world.billing.holds.get(task.id)?.state).toBe('held');
  expect(await world.deps.store.inFlight('total')).toBe(1);
});

test('a task past the hard deadline blocks no create, and leaves its counters once', async () => {
  const world = await open({ limits: { inFlightPerToken: 1, inFlightTotal: 1000 } });
  const late = (await world.create()).task;
  await world.clock.advance(DAY_MS);
  await watchDeadlines(world.deps, DEADLINES);
  await expect(world.create()).rejects.toMatchObject({ reason: 'too_many_tasks' });

  await world.clock.advance(1);
  for (let pass = 0; pass < 3; pass += 1) await watchDeadlines(world.deps, DEADLINES);
  await world.create();
  expect(await inFlight(world.deps.store, 'token:token_1', 'total', 'channel:main')).toEqual([1, 1, 2]);

  await world.deps.store.finish(late.id, { state: 'failed', at: world.clock.now() });
  expect(await inFlight(world.deps.store, 'token:token_1', 'total', 'channel:main')).toEqual([1, 1, 1]);
});
