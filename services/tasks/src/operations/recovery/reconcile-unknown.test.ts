import { describe, expect, test } from '@jest/globals';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { LOST, aWork } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import { aContextIr, aText, anImage, anOrder } from '../../../testing/orders.ts';
import type { ListedWork } from '../../channels/channel.ts';
import type { Order } from '../../domain/order.ts';
import type { Task } from '../../domain/task.ts';
import { reconcileUnknown } from './reconcile-unknown.ts';

const open = useWorlds();
const SECOND_MS = 1000;
const MINUTE_MS = 60_000;

/** Tasks with lost answers, all of the same order and moment. */
async function lose(world: World, count = 1, order: Order = anOrder()): Promise<readonly Task[]> {
  world.upstream.answer('main', ...Array.from({ length: count }, () => LOST));
  const tasks: Task[] = [];
  for (let lost = 0; lost < count; lost += 1) tasks.push((await world.create(order)).task);
  return tasks;
}

const admissions = async ({ deps }: World): Promise<string[]> =>
  (await deps.store.list({ hidden: true }, { limit: 100, ascending: true })).map(({ admission }) => admission);
const waiting = async ({ deps }: World): Promise<string[]> =>
  (await deps.store.listOpenAttention()).map(({ detail }) => detail.replace(/^.*, and /, ''));

describe('work on the list of the upstream', () => {
  test('that is the only match is adopted by the task, which is polled at once', async () => {
    const world = await open();
    const [task] = await lose(world);
    world.upstream.works = [
      aWork({ createdAt: world.clock.now() }),
      aWork({ upstreamId: 'up-other', createdAt: world.clock.now(), duration: 6 }),
    ];

    expect(await reconcileUnknown(world.deps)).toBe(1);

    expect(await world.deps.store.find(task!.id)).toMatchObject({
      admission: 'accepted',
      mapping: { channel: 'main', upstreamId: 'up-lost' },
      nextPollAt: world.clock.now(),
    });
    expect(world.counted.at(-1)).toBe('wake polls main');
    expect(world.upstream.submitted).toHaveLength(1);
  });

  test.each<[string, Partial<ListedWork>]>([
    ['is of another kind', { kind: 'context_ir' }],
    ['is of an unknown kind', { kind: undefined }],
    ['is of another model', { model: 'MiniMax-H3-Max' }],
    ['is of another duration', { duration: 6 }],
    ['is of another resolution', { resolution: '2K' }],
    ['is of another ratio', { ratio: '9:16' }],
    ['is from before the create', { createdAt: -5001 }],
    ['is from after the answer was lost', { createdAt: 5001 }],
  ])('that %s does not match', async (_what, changes) => {
    const world = await open();
    await lose(world);
    world.upstream.works = [aWork({ ...changes, createdAt: world.clock.now() + (changes.createdAt ?? 0) })];

    expect(await reconcileUnknown(world.deps)).toBe(0);

    expect(await admissions(world)).toEqual(['unknown']);
  });

  test.each<[string, Order, Partial<ListedWork>]>([
    ['whose resolution is in the other case', anOrder(), { resolution: '768p' }],
    [
      'whose adaptive ratio has become concrete',
      anOrder({ content: [aText(), anImage()], ratio: 'adaptive' }),
      { ratio: '9:16' },
    ],
    ['whose ratio was not ordered', anOrder({ content: [aText(), anImage()], ratio: undefined }), { ratio: '9:16' }],
    ['that shows no ratio', anOrder(), { ratio: undefined }],
    ['of context-IR, which has no resolution', aContextIr(), { kind: 'context_ir', resolution: undefined }],
    ['whose time is slightly early', anOrder(), { createdAt: -4000 }],
    ['whose time is slightly late', anOrder(), { createdAt: 4000 }],
  ])('%s matches', async (_what, order, changes) => {
    const world = await open();
    await lose(world, 1, order);
    world.upstream.works = [aWork({ ...changes, createdAt: world.clock.now() + (changes.createdAt ?? 0) })];

    expect(await reconcileUnknown(world.deps)).toBe(1);
  });

  test('that belongs to another task is not adopted', async () => {
    const world = await open();
    await lose(world);
    const { task } = await world.create();
    world.upstream.works = [aWork({ upstreamId: task.mapping!.upstreamId!, createdAt: world.clock.now() })];

    expect(await reconcileUnknown(world.deps)).toBe(0);
  });

  test('with two matches is not adopted, and asks for a decision after a minute', async () => {
    const world = await open();
    await lose(world);
    world.upstream.works = ['up-a', 'up-b'].map((upstreamId) => aWork({ upstreamId, createdAt: world.clock.now() }));

    await reconcileUnknown(world.deps);
    expect(await waiting(world)).toEqual([]);

    await world.clock.advance(MINUTE_MS + 1);
    await reconcileUnknown(world.deps);
    expect(await waiting(world)).toEqual(['more than one piece of work at the upstream matches']);
    expect(await admissions(world)).toEqual(['unknown']);
  });

  test('that matches two tasks is adopted by neither, and both ask for a decision after a minute', async () => {
    const world = await open();
    await lose(world, 2);
    world.upstream.works = [aWork({ createdAt: world.clock.now() })];

    await world.clock.advance(MINUTE_MS + 1);
    expect(await reconcileUnknown(world.deps)).toBe(0);

    expect(await admissions(world)).toEqual(['unknown', 'unknown']);
    expect(await waiting(world)).toEqual(
      Array.from({ length: 2 }, () => 'the work at the upstream that matches could belong to another task'),
    );
  });

  test.each<[string, number, 'before' | 'during']>([
    ['back during its create', -10 * MINUTE_MS, 'during'],
    ['back before its create', -10 * MINUTE_MS, 'before'],
    ['forward before its create, and back after it', 10 * MINUTE_MS, 'before'],
  ])('that could belong to a task whose clock was set %s is not adopted', async (_how, ms, when) => {
    const world = await open();
    const [lost] = await lose(world);
    const createdAt = world.clock.now();
    if (when === 'before') await world.clock.advance(ms);
    world.journal.put(async ({ name }, proceed) => {
      const answer = await proceed();
      if (when === 'during' && name === 'main.submit') await world.clock.advance(ms);
      return answer;
    });
    await lose(world);
    await world.clock.advance(-ms);
    world.upstream.works = [aWork({ createdAt })];

    expect(await reconcileUnknown(world.deps)).toBe(0);

    expect(await world.deps.store.find(lost!.id)).toMatchObject({ admission: 'unknown' });
  });

  test.each<[string, boolean, number]>([
    ['is adopted', true, 1],
    ['while clocks differ is not adopted', false, 0],
  ])('that is out of the time of another task %s', async (_what, areClocksTrusted, adopted) => {
    const world = await open({ areClocksTrusted });
    await lose(world);
    await world.clock.advance(10 * MINUTE_MS);
    const [late] = await lose(world);
    world.upstream.works = [aWork({ createdAt: world.clock.now() })];

    expect(await reconcileUnknown(world.deps)).toBe(adopted);

    expect((await world.deps.store.find(late!.id))?.mapping?.upstreamId).toBe(adopted === 1 ? 'up-lost' : undefined);
  });

  test.each<[string, number, number]>([
    ['within three hours of the work is not adopted', 2.9 * 60 * MINUTE_MS, 0],
    ['earlier than that is adopted', 3.1 * 60 * MINUTE_MS, 1],
  ])('of a process that starts after clocks were wrong %s', async (_what, ago, adopted) => {
    const world = await open();
    await world.deps.store.noteClockDoubt(world.clock.now());
    await world.clock.advance(ago - 10 * MINUTE_MS);
    await lose(world);
    await world.clock.advance(10 * MINUTE_MS);
    await lose(world);
    world.upstream.works = [aWork({ createdAt: world.clock.now() })];

    expect(await reconcileUnknown(world.deps)).toBe(adopted);
  });

  test('that no other task ordered is adopted while clocks differ', async () => {
    const world = await open({ areClocksTrusted: false });
    await lose(world);
    world.upstream.works = [aWork({ createdAt: world.clock.now() })];

    expect(await reconcileUnknown(world.deps)).toBe(1);
  });

  test('that could belong to a create under submission is not adopted', async () => {
    const world = await open();
    const [lost] = await lose(world);
    let during = -1;
    world.journal.put(async ({ name }, proceed) => {
      const answer = await proceed();
      if (name === 'main.submit') {
        world.upstream.works = [aWork({ upstreamId: 'up-2', createdAt: world.clock.now() })];
        during = await reconcileUnknown(world.deps);
      }
      return answer;
    });

    const { task } = await world.create();

    expect(during).toBe(0);
    expect(task.mapping?.upstreamId).toBe('up-2');
    expect(await world.deps.store.find(lost!.id)).toMatchObject({ admission: 'unknown' });
  });

  test('that could belong to a task of another channel of the upstream account is not adopted', async () => {
    const world = await open({
      channels: [channelSettings({ priority: 1, inFlightMax: 1 }), channelSettings({ id: 'sibling' })],
    });
    world.upstream.answer('sibling', LOST);
    await lose(world, 2);
    world.upstream.works = [aWork({ createdAt: world.clock.now() })];

    expect(await reconcileUnknown(world.deps)).toBe(0);
  });

  test('is matched among hundreds, each task with its own', async () => {
    const world = await open({
      channels: [channelSettings({ inFlightMax: 1000, requestsPerMinute: 1000 })],
      limits: { inFlightPerToken: 1000, inFlightTotal: 1000 },
    });
    const works: ListedWork[] = [];
    for (let count = 0; count < 120; count += 1) {
      await lose(world);
      works.unshift(aWork({ upstreamId: `up-${String(count).padStart(3, '0')}`, createdAt: world.clock.now() }));
      // After this many lost answers the channel gets no order for half a minute.
      await world.clock.advance(31 * SECOND_MS);
    }
    world.upstream.works = works;

    expect(await reconcileUnknown(world.deps)).toBe(120);

    const tasks = await world.deps.store.list({}, { limit: 200, ascending: true });
    expect(tasks.map(({ mapping }) => mapping?.upstreamId)).toEqual(
      works.map(({ upstreamId }) => upstreamId).toReversed(),
    );
  });
});

describe('a task without a match', () => {
  test.each<[string, (world: World) => void, string]>([
    ['on the list', () => undefined, 'no work at the upstream matches'],
    [
      'because the list cannot be read',
      (world) => {
        world.upstream.works = undefined;
      },
      'the list of the upstream cannot be read',
    ],
    [
      'because its channel is gone',
      ({ deps }) => {
        Object.assign(deps.channels, { find: () => undefined });
      },
      'the list of the upstream cannot be read',
    ],
  ])('%s asks for a decision once, after a minute, and keeps its hold', async (_why, prepare, detail) => {
    const world = await open();
    await lose(world);
    prepare(world);

    await world.clock.advance(MINUTE_MS);
    await reconcileUnknown(world.deps);
    expect(await waiting(world)).toEqual([]);

    await world.clock.advance(1);
    for (let pass = 0; pass < 3; pass += 1) await reconcileUnknown(world.deps);
    expect(await waiting(world)).toEqual([detail]);
    expect(world.counted.filter((word) => word === 'attention unknown_outcome')).toHaveLength(1);
    expect([...world.billing.holds.values()].map(({ state }) => state)).toEqual(['held']);
    expect(world.upstream.submitted).toHaveLength(1);
  });

  test('on a channel without a list asks for a decision too', async () => {
    const world = await open({ channels: [channelSettings({ reconcile: 'none' })] });
    await lose(world);
    world.upstream.works = [aWork({ createdAt: world.clock.now() })];

    await world.clock.advance(MINUTE_MS + 1);
    expect(await reconcileUnknown(world.deps)).toBe(0);

    expect(await waiting(world)).toEqual(['the list of the upstream cannot be read']);
    expect(world.journal.names()).not.toContain('main.list');
  });

  test('and without a hold was never submitted: it fails as soon as billing can be asked', async () => {
    const world = await open();
    const [task] = await lose(world);
    (world.billing.holds as Map<string, unknown>).delete(task!.id);
    world.journal.fail('billing.precludeHold', new Error('away'));
    await world.clock.advance(MINUTE_MS + 1);
    expect(await reconcileUnknown(world.deps)).toBe(0);
    expect(await waiting(world)).toHaveLength(1);

    expect(await reconcileUnknown(world.deps)).toBe(1);

    expect(await world.deps.store.find(task!.id)).toMatchObject({ state: 'failed', failure: { code: 'interrupted' } });
    expect(await waiting(world)).toEqual([]);
    expect(world.upstream.submitted).toHaveLength(1);
  });

  test('needs no decision once it is found later', async () => {
    const world = await open();
    await lose(world);
    const createdAt = world.clock.now();
    world.upstream.works = undefined;
    await world.clock.advance(10 * MINUTE_MS);
    await reconcileUnknown(world.deps);
    expect(await waiting(world)).toHaveLength(1);

    world.upstream.works = [aWork({ createdAt })];
    expect(await reconcileUnknown(world.deps)).toBe(1);

    expect(await waiting(world)).toEqual([]);
    expect(await admissions(world)).toEqual(['accepted']);
  });

  test('is looked up at growing intervals', async () => {
    const world = await open();
    await lose(world);
    const deps = { ...world.deps, chance: () => 0.5 };
    const asks = async (): Promise<number> => {
      world.journal.clear();
      await reconcileUnknown(deps);
      return world.journal.names().filter((name) => name === 'main.list').length;
    };

    await world.clock.advance(2 * MINUTE_MS);
    expect(await asks()).toBe(1);

    await world.clock.advance(1);
    expect(await asks()).toBe(0);
  });
});

test('no upstream is called when no submission is unknown', async () => {
  const world = await open();
  await world.create();
  world.journal.clear();

  expect(await reconcileUnknown(world.deps)).toBe(0);

  expect(world.journal.names()).toEqual(['store.listWithAdmission']);
});
