import { describe, expect, test } from '@jest/globals';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { LOST, refused, succeeded } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import { aRegeneration, aText, anImage, anOrder } from '../../../testing/orders.ts';
import { dieAt } from '../../../testing/process-death.ts';
import type { PollResult } from '../../channels/channel.ts';
import type { Task } from '../../domain/task.ts';
import { channelPoller } from '../../workers/poll-channel.ts';
import { newProcessLiveness } from '../../workers/process-liveness.ts';
import { settleFinished } from '../../workers/settle-finished.ts';
import { resolveAttention } from '../attention/resolve-attention.ts';
import { cancelTask } from '../ends/cancel-task.ts';
import { endTask } from '../ends/end-task.ts';
import { callbackHandler } from '../polls/handle-callback.ts';
import { POLL_SPANS_MAX } from './work-span.ts';

const open = useWorlds();
const MINUTE_MS = 60_000;
const PROMPT = 'planted-prompt';
const FAILED: PollResult = {
  found: true,
  report: { phase: 'failed', status: 'failed', failure: { code: '1027', message: 'planted words' } },
};
const ERROR: PollResult = { found: false, gone: false, error: 'https://planted.upstream.example said up-1' };
const running = (progress?: number, status = 'running'): PollResult => ({
  found: true,
  report: { phase: 'running', status, progress },
});

/** A create whose call is recorded. The span of the call ends with it. */
async function create(world: World, order = anOrder(), changes: object = {}): Promise<Task> {
  const span = world.tracing.root('create', { class: 'create' });
  const created = world.create(order, { span, ...changes });
  return created.then(({ task }) => task).finally(() => span.end());
}

/** Polls what is due once. */
async function poll(world: World, polled?: PollResult, upstreamId = 'up-1'): Promise<void> {
  if (polled !== undefined) world.upstream.pollResults.set(upstreamId, polled);
  await world.clock.advance(MINUTE_MS);
  const poller = channelPoller(world.deps, () => world.deps.channels.find('main'));
  await poller.pass('main');
  await poller.idle();
}

const names = ({ tracing }: World): string[] => tracing.spans.map(({ name }) => name);
const taskSpans = ({ tracing }: World) => tracing.spans.filter(({ name }) => name.startsWith('task '));
const polls = ({ tracing }: World) => tracing.named('poll main');
/** The spans whose parent was never written. */
const orphans = ({ tracing }: World): string[] =>
  tracing.spans
    .filter(({ parent }) => parent !== undefined && !tracing.spans.some(({ carrier }) => carrier === parent))
    .map(({ name }) => name);

describe('a task whose create is recorded', () => {
  test('has one trace without a gap, from its create to its settlement', async () => {
    const world = await open();
    const task = await create(world, anOrder({ content: [aText(PROMPT), anImage('first_frame')] }));
    await poll(world, running(40));
    await poll(world, succeeded());
    await world.clock.advance(MINUTE_MS);
    await settleFinished(world.deps);

    expect(names(world)).toEqual([
      ...['tasks begin', 'stage media', 'submit main', 'create'],
      ...['poll main', 'poll main', 'store result', 'finish', 'task generation', 'confirm settlement'],
    ]);
    expect(orphans(world)).toEqual([]);
    expect(new Set(world.tracing.spans.map(({ carrier }) => carrier.slice(3, 35))).size).toBe(1);
    expect(JSON.stringify(world.tracing.spans)).not.toMatch(/planted|up-1|vendor\.example/);
    const ended = await world.deps.store.find(task.id);
    expect(taskSpans(world)).toMatchObject([
      {
        carrier: task.trace,
        parent: world.tracing.named('create')[0]?.carrier,
        from: task.createdAt,
        to: ended?.finishedAt,
        failed: undefined,
        attributes: {
          'reelgate.task.id': task.id,
          'reelgate.account.id': 'acme',
          'reelgate.task.kind': 'generation',
          'reelgate.task.channel': 'main',
          'reelgate.task.attempt': 1,
          'reelgate.task.state': 'completed',
          'reelgate.task.polls': 2,
        },
      },
    ]);
  });

  test('passes its trace on with the event of its end', async () => {
    const world = await open();
    await create(world);
    await poll(world, succeeded());

    const [event] = await world.sql.read('SELECT trace FROM outbox');
    expect(event?.['trace']).toBe(world.tracing.named('finish')[0]?.carrier);
  });

  test('says of each attempt how it ended, and nothing that the upstream said', async () => {
    const channels = [channelSettings({ id: 'first', priority: 1 }), channelSettings({ id: 'main' })];
    const world = await open({ channels });
    world.upstream.answer('first', { ...refused('channel'), status: 503 });

    await create(world);

    expect(world.tracing.named('submit first')).toMatchObject([
      {
        kind: 'client',
        failed: 'refused_channel',
        attributes: {
          'reelgate.task.attempt': 1,
          'reelgate.task.outcome': 'refused',
          'http.response.status_code': 503,
        },
      },
    ]);
    expect(world.tracing.named('submit main')).toMatchObject([{ attributes: { 'reelgate.task.attempt': 2 } }]);
    expect(JSON.stringify(world.tracing.spans)).not.toContain('its channel');
  });

  test('links a callback that it heard to the request of the callback', async () => {
    const world = await open();
    const task = await create(world);
    const call = world.tracing.root('callback', { class: 'call' });
    const token = world.deps.callbacks.buildUrl({ taskId: task.id, number: 1 }).split('/').at(-1)!;
    const handle = callbackHandler(world.deps);

    for (let time = 0; time < 3; time += 1) await handle(token, { headers: {}, body: Buffer.alloc(0) }, call);

    expect(world.tracing.named('callback received')).toMatchObject([
      { kind: 'consumer', parent: task.trace, links: [call.carrier] },
    ]);
  });

  test('is linked to the create that repeats its key, and to the task that is made from it', async () => {
    const world = await open();
    const idempotency = { key: 'k', fingerprint: 'print' };
    const source = await create(world, anOrder(), { idempotency });
    await create(world, anOrder(), { idempotency });
    world.upstream.pollResults.set('up-1', succeeded());
    await poll(world);
    await create(world, aRegeneration({ sourceTaskId: source.id }));
    await poll(world, succeeded(), 'up-2');

    expect(world.tracing.named('create')[1]).toMatchObject({ links: [source.trace] });
    expect(world.tracing.named('task regeneration')).toMatchObject([{ links: [source.trace] }]);
  });

  test('has its later work in traces of their own after half an hour, each linked to it', async () => {
    const world = await open();
    const task = await create(world);
    await world.clock.advance(31 * MINUTE_MS);
    await poll(world, succeeded());

    const late = world.tracing.spans.filter(({ name }) => ['poll main', 'store result', 'finish'].includes(name));
    expect(late).toHaveLength(3);
    for (const span of late)
      expect(span).toMatchObject({
        parent: undefined,
        links: [task.trace],
        attributes: { 'reelgate.link.type': 'continues' },
      });
    expect(taskSpans(world)).toMatchObject([{ carrier: task.trace }]);
  });
});

describe('the span of a task is written once', () => {
  const ends: readonly (readonly [what: string, code: string | undefined, end: (world: World) => Promise<unknown>])[] =
    [
      [
        'when no channel accepts it',
        'no_channel_available',
        async (world) => {
          world.upstream.answer('main', refused('channel'));
          await create(world).catch(() => undefined);
        },
      ],
      [
        'when it is not paid for',
        'insufficient_quota',
        async (world) => {
          world.billing.funded = false;
          await create(world).catch(() => undefined);
        },
      ],
      [
        'when it is cancelled',
        'cancelled',
        async (world) => {
          const { id } = await create(world);
          world.upstream.pollResults.set('up-1', { found: true, report: { phase: 'queued', status: 'queued' } });
          await cancelTask(world.deps, 'acme', id, new AbortController().signal);
        },
      ],
      [
        'when it fails',
        '1027',
        async (world) => {
          await create(world);
          await poll(world, FAILED);
        },
      ],
      [
        'when a person ends it after its answer was lost',
        'operator',
        async (world) => {
          world.upstream.answer('main', LOST);
          const { id } = await create(world);
          await world.deps.store.raise({ taskId: id, reason: 'unknown_outcome', detail: '', since: 0 });
          await resolveAttention(world.deps, id, { resolution: 'failed', actor: 'ada', reason: '' });
        },
      ],
      [
        'when two processes end it at once',
        undefined,
        async (world) => {
          const task = await create(world);
          const end = { state: 'completed', at: world.clock.now() } as const;
          await Promise.all([endTask(world.deps, task, end), endTask(world.deps, task, end)]);
        },
      ],
    ];

  test.each(ends)('%s', async (_what, code, end) => {
    const world = await open();
    await end(world);

    expect(taskSpans(world)).toMatchObject([{ failed: code }]);
    expect(orphans(world)).toEqual([]);
  });

  test('by the process that takes over the create of a dead one, which says that it resumed', async () => {
    const world = await open();
    const dead = dieAt(world.journal, 2, 'before');
    void create(world);
    await dead;
    const next = await world.restart();
    await newProcessLiveness(next.deps, true).recoverAtStart();

    expect(taskSpans(world)).toMatchObject([{ failed: 'interrupted' }]);
    expect(world.tracing.named('recover create')).toMatchObject([{ attributes: { 'reelgate.resumed': true } }]);
  });
});

describe('a poll has a span', () => {
  test.each([
    ['if it is the first, and then only if something changes', [running(), running(), running()], 1],
    ['if the progress changes', [running(10), running(20), running(20), running(30)], 3],
    ['if the status changes', [running(), running(undefined, 'rendering')], 2],
    ['if it fails', [running(), ERROR, ERROR], 3],
    ['if it ends the task', [running(), running(), succeeded()], 2],
  ])('%s', async (_what, results, spans) => {
    const world = await open();
    await create(world);

    for (const polled of results) await poll(world, polled);

    expect(polls(world)).toHaveLength(spans);
    expect(JSON.stringify(polls(world))).not.toMatch(/planted|up-1/);
  });

  test('at most 128 times in the life of a task, the last of them when the task ends', async () => {
    const world = await open();
    const task = await create(world);
    for (let number = 0; number < POLL_SPANS_MAX + 10; number += 1) await poll(world, running(number % 90));
    await poll(world, succeeded());

    expect(polls(world)).toHaveLength(POLL_SPANS_MAX);
    expect(polls(world).at(-1)).toMatchObject({ attributes: { 'reelgate.task.phase': 'succeeded' } });
    expect(taskSpans(world)).toMatchObject([
      {
        carrier: task.trace,
        attributes: { 'reelgate.task.polls': POLL_SPANS_MAX + 11, 'reelgate.task.poll_spans': POLL_SPANS_MAX },
      },
    ]);
  });

  test('that says so if the process of the poll before it died', async () => {
    const world = await open();
    await create(world);
    await poll(world, running());
    await world.clock.advance(MINUTE_MS);
    const { deps } = world;
    await deps.store.claimDue('main', { now: world.clock.now(), leaseUntil: Infinity, limit: 1, owner: 'proc_dead' });
    await deps.store.dropLeases('proc_dead');

    await poll(world, running());
    await poll(world, running());

    expect(polls(world).map(({ attributes }) => attributes['reelgate.resumed'])).toEqual([undefined, true]);
  });
});

test('a create that is not recorded stores nothing and has no span', async () => {
  const world = await open();
  const { task } = await world.create();
  await poll(world, succeeded());

  expect(world.tracing.spans).toEqual([]);
  expect(await world.deps.store.find(task.id)).toMatchObject({ state: 'completed', trace: undefined });
  expect(await world.sql.read('SELECT trace, trace_parent FROM tasks')).toEqual([{ trace: null, trace_parent: null }]);
  expect(await world.sql.read('SELECT trace FROM outbox')).toEqual([{ trace: null }]);
});
