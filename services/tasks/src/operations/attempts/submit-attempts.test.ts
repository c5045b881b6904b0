import { describe, expect, test } from '@jest/globals';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { LOST, accepted, refused } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import { aText, anImage, anOrder } from '../../../testing/orders.ts';
import { outcomes } from '../../../testing/store/opened-store.ts';
import type { ChannelSettings, Submission } from '../../channels/channel.ts';

const open = useWorlds();
const FAULTS_TO_OPEN = 5;
const OPEN_MS = 30_000;

/** Two channels of one upstream account, in the order of their names; the changes are those of both. */
const pair = (changes: Partial<ChannelSettings> = {}): ChannelSettings[] => [
  channelSettings({ id: 'first', priority: 1, ...changes }),
  channelSettings({ id: 'second', ...changes }),
];
const asked = ({ upstream }: World): string[] => upstream.submitted.map(({ channel }) => channel);
const stateOfFirst = ({ deps }: World): string[] => {
  const circuit = deps.channels.find('first')!.circuit;
  const word = (caller: string): string => (circuit.isOpenFor(caller) ? 'open' : 'closed');
  return [circuit.state(), `${word('acme')} for the account`, `${word('other')} for others`];
};
const holds = ({ billing }: World): string[] => [...billing.holds.values()].map(({ state }) => state);

test('an answer with the id of another task is an unknown outcome: the hold stays, a person decides', async () => {
  const world = await open({ channels: pair() });
  world.upstream.answer('first', accepted('up-of-both'), accepted('up-of-both'));
  const earlier = await world.create();

  const { task } = await world.create();

  expect(task).toMatchObject({
    admission: 'unknown',
    state: 'queued',
    mapping: { channel: 'first', upstreamAccount: 'vendor' },
  });
  expect(task.mapping?.upstreamId).toBeUndefined();
  expect(asked(world)).toEqual(['first', 'first']);
  expect(await outcomes(world.deps.store, task.id)).toEqual(['unknown']);
  expect(await world.deps.store.listOpenAttention()).toMatchObject([
    { taskId: task.id, reason: 'unknown_outcome', detail: expect.stringContaining('another task') },
  ]);
  expect(holds(world)).toEqual(['held', 'held']);
  expect((await world.deps.store.find(earlier.task.id))?.mapping?.upstreamId).toBe('up-of-both');
});

describe('the places in flight of a channel', () => {
  const FULL = { kind: 'exhausted', reason: 'rate_limit_exceeded', retryAfterMs: 2000 };
  const orders: [string, ReturnType<typeof anOrder>][] = [
    ['that start with their task', anOrder()],
    ['that start after their media', anOrder({ content: [aText(), anImage()] })],
  ];

  test.each(orders)(
    'go to another account that was refused, until both have an equal part, of creates %s',
    async (_what, order) => {
      const world = await open({ channels: [channelSettings({ inFlightMax: 4 })] });
      const taken = [];
      for (let place = 0; place < 4; place += 1) taken.push((await world.create(order)).task.id);
      await expect(world.create(order, { accountId: 'other' })).rejects.toMatchObject(FULL);

      for (const id of taken.slice(0, 2)) {
        await world.deps.store.finish(id, { state: 'failed', at: world.clock.now() });
        await expect(world.create(order)).rejects.toMatchObject(FULL);
        expect((await world.create(order, { accountId: 'other' })).task.admission).toBe('accepted');
      }

      await world.deps.store.finish(taken[2]!, { state: 'failed', at: world.clock.now() });
      await expect(world.create(order, { accountId: 'other' })).rejects.toMatchObject(FULL);
      expect((await world.create(order)).task.admission).toBe('accepted');
    },
  );
});

describe('the orders of one account', () => {
  const redirected: Submission = { outcome: 'unknown', error: 'HTTP 307', status: 307 };
  test.each<[string, Submission]>([
    ['a fault', refused('channel')],
    ['a refusal of the key', refused('credential')],
    ['a lost answer', LOST],
    ['a redirect', redirected],
    ['a refusal of content', refused('content')],
    ['a refusal of the order', refused('order')],
  ])('that meet %s stop no order of another account', async (_what, submission) => {
    const world = await open({ channels: [channelSettings({ id: 'first' })] });
    world.upstream.answer('first', ...Array.from({ length: 4 * FAULTS_TO_OPEN }, () => submission));
    for (let create = 0; create < 2 * FAULTS_TO_OPEN; create += 1)
      await world.create(anOrder(), { accountId: 'other' }).catch(() => undefined);
    world.upstream.answer('first');

    const created = await Promise.all(Array.from({ length: FAULTS_TO_OPEN }, () => world.create()));

    expect(world.deps.channels.find('first')?.circuit.state()).toBe('closed');
    expect(created.map(({ task }) => task.admission)).toEqual(Array.from(created, () => 'accepted'));
  });

  test('and those of another account open the circuit for all', async () => {
    const world = await open({ channels: pair() });
    world.upstream.answer('first', ...Array.from({ length: FAULTS_TO_OPEN }, () => refused('channel')));
    for (const accountId of ['acme', 'other', 'acme', 'other', 'acme']) await world.create(anOrder(), { accountId });

    expect(world.deps.channels.find('first')?.circuit.state()).toBe('open');
  });

  test('find out an upstream that cannot be reached, also if no other account has any', async () => {
    const world = await open({ channels: pair() });
    const unreachable: Submission = {
      outcome: 'refused',
      fault: 'channel',
      error: 'ECONNREFUSED',
      isUnreachable: true,
    };
    world.upstream.answer('first', ...Array.from({ length: FAULTS_TO_OPEN }, () => unreachable));
    for (let create = 0; create < FAULTS_TO_OPEN; create += 1) await world.create();

    expect(world.deps.channels.find('first')?.circuit.state()).toBe('open');
  });

  test('that are refused for their content are no failures of the channel in the counts', async () => {
    const world = await open({ channels: pair() });
    world.upstream.answer('first', refused('content'));

    await world.create().catch(() => undefined);

    expect(world.counted.filter((one) => one.includes('attempt'))).toEqual([expect.stringContaining('rejected')]);
  });
});

test('orders that a channel cannot express are no failures of the channel in the counts', async () => {
  const world = await open({ channels: [channelSettings({ id: 'first', priority: 1 }), channelSettings()] });
  world.upstream.answer('first', refused('unfit'));
  await world.create();

  expect(world.counted.filter((one) => one.startsWith('attempt'))).toEqual([
    'attempt first unfit',
    'attempt main accepted',
  ]);
});

test('refusals that one account alone meets are no failures of the channel in the counts', async () => {
  const world = await open({ channels: [channelSettings({ id: 'first' })] });
  await world.create(anOrder(), { accountId: 'other' });
  world.upstream.answer('first', refused('channel'), refused('channel'), refused('channel'));
  for (const accountId of ['acme', 'other', 'acme'])
    await world.create(anOrder(), { accountId }).catch(() => undefined);

  expect(world.counted.filter((one) => one.startsWith('attempt'))).toEqual([
    'attempt first accepted',
    'attempt first unconfirmed',
    'attempt first refused',
    'attempt first refused',
  ]);
});

describe("a channel's own fault", () => {
  test.each<[string, Submission]>([
    ['a fault', refused('channel')],
    ['a throttle', refused('throttle')],
  ])('as %s moves on to the next channel, and is stored', async (_what, submission) => {
    const world = await open({ channels: pair() });
    world.upstream.answer('first', submission);

    const { task } = await world.create();

    expect(asked(world)).toEqual(['first', 'second']);
    expect(task.mapping?.channel).toBe('second');
    expect(await world.deps.store.attempts(task.id)).toMatchObject([
      {
        number: 1,
        channel: 'first',
        outcome: 'refused',
        error: submission.outcome === 'refused' ? submission.error : '',
      },
      { number: 2, channel: 'second', outcome: 'accepted' },
    ]);
    expect(
      await Promise.all(['channel:first', 'channel:second', 'total'].map((scope) => world.deps.store.inFlight(scope))),
    ).toEqual([0, 1, 1]);
  });

  test('on every channel ends the create: try again later', async () => {
    const world = await open({ channels: pair() });
    world.upstream.answer('first', refused('channel'));
    world.upstream.answer('second', refused('channel'));

    await expect(world.create()).rejects.toMatchObject({
      kind: 'unavailable',
      reason: 'no_channel_available',
      retryAfterMs: 5000,
    });

    expect(asked(world)).toEqual(['first', 'second']);
    expect(holds(world)).toEqual(['released']);
  });

  test('opens its circuit for the account whose orders met five in a row; one order tries the channel again after a while', async () => {
    const world = await open({ channels: pair() });
    world.upstream.answer('first', ...Array.from({ length: FAULTS_TO_OPEN }, () => refused('channel')));
    for (let create = 0; create < FAULTS_TO_OPEN + 2; create += 1) await world.create();

    expect(asked(world).filter((channel) => channel === 'first')).toHaveLength(FAULTS_TO_OPEN);
    expect(stateOfFirst(world)).toEqual(['closed', 'open for the account', 'closed for others']);

    await world.clock.advance(OPEN_MS);
    const { task } = await world.create();
    expect(task.mapping?.channel).toBe('first');
    expect(world.deps.channels.find('first')?.circuit.state()).toBe('closed');
  });

  test('includes a lost answer: a channel that hangs gets no more orders, and the next channel gets them', async () => {
    const world = await open({ channels: pair() });
    world.upstream.answer('first', ...Array.from({ length: 2 * FAULTS_TO_OPEN }, () => LOST));
    const admissions: string[] = [];
    for (let create = 0; create < FAULTS_TO_OPEN + 2; create += 1)
      admissions.push((await world.create()).task.admission);

    expect(admissions).toEqual([...Array.from({ length: FAULTS_TO_OPEN }, () => 'unknown'), 'accepted', 'accepted']);
    expect(asked(world).filter((channel) => channel === 'first')).toHaveLength(FAULTS_TO_OPEN);
    expect(stateOfFirst(world)).toEqual(['closed', 'open for the account', 'closed for others']);
  });

  test('on a trial with a lost answer opens the circuit again, and another trial follows later', async () => {
    const world = await open();
    for (let fault = 0; fault < FAULTS_TO_OPEN; fault += 1) world.deps.channels.find('main')?.circuit.failed();
    await world.clock.advance(OPEN_MS);
    world.upstream.answer('main', LOST);

    expect((await world.create()).task.admission).toBe('unknown');
    await expect(world.create()).rejects.toMatchObject({ reason: 'no_channel_available' });

    await world.clock.advance(OPEN_MS);
    expect((await world.create()).task.admission).toBe('accepted');
    expect(world.deps.channels.find('main')?.circuit.state()).toBe('closed');
  });

  test('is not final for a channel whose trial meets another limit', async () => {
    const world = await open({ channels: [channelSettings({ inFlightMax: 1 })] });
    const { task } = await world.create();
    for (let fault = 0; fault < FAULTS_TO_OPEN; fault += 1) world.deps.channels.find('main')?.circuit.failed();
    await world.clock.advance(OPEN_MS);

    await expect(world.create()).rejects.toMatchObject({ reason: 'rate_limit_exceeded' });
    await world.deps.store.finish(task.id, { state: 'failed', at: world.clock.now() });

    expect((await world.create()).task.mapping?.channel).toBe('main');
  });
});

describe('a refusal of the order itself', () => {
  test.each<[string, 'content' | 'order', object]>([
    ['of its content', 'content', { kind: 'unprocessable', reason: 'content_rejected' }],
    ['of the whole order', 'order', { kind: 'invalid', reason: 'invalid_request' }],
  ])('%s ends the create, and no other channel is tried', async (_what, fault, problem) => {
    const world = await open({ channels: pair() });
    world.upstream.answer('first', refused(fault));

    await expect(world.create()).rejects.toMatchObject(problem);

    expect(asked(world)).toEqual(['first']);
    expect(holds(world)).toEqual(['released']);
    expect(world.deps.channels.find('first')?.circuit.state()).toBe('closed');
  });

  test('reveals nothing of the channel, its upstream or its answer', async () => {
    const world = await open({ channels: pair() });
    world.upstream.answer('first', {
      outcome: 'refused',
      fault: 'order',
      error: 'MiniMax-H3 at https://api.vendor.example: secret (2013)',
    });

    const problem: unknown = await world.create().catch((error: unknown) => error);

    expect(JSON.stringify({ ...(problem as object), message: String(problem) })).not.toMatch(
      /MiniMax|vendor|secret|first|2013/,
    );
  });
});

describe('an order that a channel cannot express', () => {
  test('moves on to the next channel, and leaves the circuit unchanged', async () => {
    const world = await open({ channels: pair() });
    const circuit = world.deps.channels.find('first')?.circuit;
    for (let fault = 0; fault < FAULTS_TO_OPEN - 1; fault += 1) circuit?.failed();
    world.upstream.answer('first', ...Array.from({ length: 2 * FAULTS_TO_OPEN }, () => refused('unfit')));

    for (let create = 0; create < 2 * FAULTS_TO_OPEN; create += 1)
      expect((await world.create()).task.mapping?.channel).toBe('second');

    expect(circuit?.state()).toBe('closed');
    circuit?.failed();
    expect(circuit?.state()).toBe('open');
  });

  test('leaves the trial of an open circuit to the next order', async () => {
    const world = await open();
    for (let fault = 0; fault < FAULTS_TO_OPEN; fault += 1) world.deps.channels.find('main')?.circuit.failed();
    await world.clock.advance(OPEN_MS);
    world.upstream.answer('main', refused('unfit'));

    await expect(world.create()).rejects.toMatchObject({ reason: 'invalid_request' });
    expect((await world.create()).task.admission).toBe('accepted');
  });

  test.each<[string, 'unfit' | 'channel' | 'throttle', object]>([
    [
      'is invalid when no channel can express it',
      'unfit',
      { kind: 'invalid', reason: 'invalid_request', message: expect.stringContaining('combination of inputs') },
    ],
    [
      'may be sent again when another channel is at fault',
      'channel',
      { kind: 'unavailable', reason: 'no_channel_available' },
    ],
    [
      'may be sent again when another channel is at its limit',
      'throttle',
      { kind: 'exhausted', reason: 'rate_limit_exceeded' },
    ],
  ])('%s', async (_what, fault, problem) => {
    const world = await open({ channels: pair() });
    world.upstream.answer('first', refused('unfit'));
    world.upstream.answer('second', refused(fault));

    await expect(world.create()).rejects.toMatchObject(problem);

    expect(asked(world)).toEqual(['first', 'second']);
    expect(holds(world)).toEqual(['released']);
    expect(await world.deps.store.inFlight('total')).toBe(0);
  });
});

describe('a limit', () => {
  test('of the upstream on every channel asks the client to wait for the shortest of them', async () => {
    const world = await open({ channels: pair() });
    world.upstream.answer('first', refused('throttle', 9000));
    world.upstream.answer('second', refused('throttle', 4000));

    await expect(world.create()).rejects.toMatchObject({
      kind: 'exhausted',
      reason: 'rate_limit_exceeded',
      retryAfterMs: 4000,
    });

    expect(holds(world)).toEqual(['released']);
  });

  test('beside a fault counts as a fault', async () => {
    const world = await open({ channels: pair() });
    world.upstream.answer('first', refused('throttle', 9000));
    world.upstream.answer('second', refused('channel'));

    await expect(world.create()).rejects.toMatchObject({ reason: 'no_channel_available' });
  });

  test('of tasks in flight moves on to the next channel, and refuses the create when none is left', async () => {
    const world = await open({ channels: pair({ inFlightMax: 1 }) });

    expect((await world.create()).task.mapping?.channel).toBe('first');
    expect((await world.create()).task.mapping?.channel).toBe('second');
    await expect(world.create()).rejects.toMatchObject({
      kind: 'exhausted',
      reason: 'rate_limit_exceeded',
      retryAfterMs: 2000,
    });

    expect(asked(world)).toEqual(['first', 'second']);
  });

  test('of creates per minute moves on to the next channel, and states the wait when none is left', async () => {
    const world = await open({ channels: pair({ requestsPerMinute: 1 }) });

    expect((await world.create()).task.mapping?.channel).toBe('first');
    expect((await world.create()).task.mapping?.channel).toBe('second');
    await expect(world.create()).rejects.toMatchObject({ reason: 'rate_limit_exceeded', retryAfterMs: 60_000 });

    await world.clock.advance(60_000);
    expect((await world.create()).task.mapping?.channel).toBe('first');
  });

  test('of creates per minute is shared by the accounts once another one was refused', async () => {
    const world = await open({ channels: [channelSettings({ requestsPerMinute: 8 })] });
    const countAccepted = async (accountId: string): Promise<number> => {
      const creates = Array.from({ length: 8 }, () => world.create(anOrder(), { accountId }));
      return (await Promise.allSettled(creates)).filter(({ status }) => status === 'fulfilled').length;
    };
    expect([await countAccepted('acme'), await countAccepted('other')]).toEqual([8, 0]);
    await world.clock.advance(60_000);

    expect([await countAccepted('acme'), await countAccepted('other')]).toEqual([4, 4]);
  });

  test('that is reached writes no attempt', async () => {
    const world = await open({ channels: pair({ inFlightMax: 1 }) });
    await world.create();
    const { task } = await world.create();

    expect(await world.deps.store.attempts(task.id)).toMatchObject([{ number: 1, channel: 'second' }]);
  });

  test('of creates per minute is not used up by an order that no balance covers', async () => {
    const world = await open({ channels: [channelSettings({ requestsPerMinute: 1 })] });
    world.billing.funded = false;
    await expect(world.create()).rejects.toMatchObject({ reason: 'insufficient_quota' });
    world.billing.funded = true;

    expect((await world.create()).task).toMatchObject({ admission: 'accepted' });
  });

  test('comes after the refusal of an order that no balance covers', async () => {
    const world = await open({ channels: [channelSettings({ inFlightMax: 1 })] });
    await world.create();
    world.billing.funded = false;

    await expect(world.create()).rejects.toMatchObject({ reason: 'insufficient_quota' });
  });

  test('that another create reaches first ends the attempt unsent, and moves on to the next channel', async () => {
    const world = await open({ channels: pair({ requestsPerMinute: 1 }) });

    const created = await Promise.all([world.create(), world.create()]);

    const tried = await Promise.all(created.map(({ task }) => world.deps.store.attempts(task.id)));
    expect(tried.map((attempts) => attempts.map(({ channel, outcome }) => `${channel} ${outcome}`))).toEqual([
      ['first accepted'],
      ['first refused', 'second accepted'],
    ]);
    expect(asked(world).sort()).toEqual(['first', 'second']);
    expect(await world.deps.store.inFlight('channel:first')).toBe(1);
  });

  test('of tried channels holds for thirty channels', async () => {
    const channels = Array.from({ length: 30 }, (_, index) => channelSettings({ id: `c${index}` }));
    const world = await open({ channels });
    for (const { id } of channels) world.upstream.answer(id, refused('channel'));

    await expect(world.create()).rejects.toMatchObject({ reason: 'no_channel_available' });

    expect(world.upstream.submitted).toHaveLength(16);
  });
});

describe('a lost answer', () => {
  test.each<[string, Submission | Error]>([
    ['a lost answer', LOST],
    ['an adapter that throws', new Error('boom')],
  ])('as %s leaves the task unknown with its hold, and nothing is submitted again', async (_what, answer) => {
    const world = await open({ channels: pair() });
    world.upstream.answer('first', answer);

    const { task } = await world.create();

    expect(task).toMatchObject({
      admission: 'unknown',
      state: 'queued',
      mapping: { channel: 'first', upstreamAccount: 'vendor' },
    });
    expect(asked(world)).toEqual(['first']);
    expect(await outcomes(world.deps.store, task.id)).toEqual(['unknown']);
    expect(await world.deps.store.findOwned('acme', task.id)).toBeDefined();
    expect(holds(world)).toEqual(['held']);
    expect(await world.deps.store.inFlight('total')).toBe(1);
    expect(world.journal.names()).not.toContain('billing.releaseHold');
  });
});

test('an attempt that cannot be planned is refused without a call, and its hold is released', async () => {
  const world = await open();
  world.journal.fail('links.mediaUrl', new Error('the bytes cannot be read'));

  await expect(world.create(anOrder({ content: [aText(), anImage()] }))).rejects.toThrow('the bytes cannot be read');

  const [task] = await world.deps.store.list({ hidden: true }, { limit: 10 });
  expect(task?.admission).toBe('refused');
  expect(await outcomes(world.deps.store, task!.id)).toEqual(['refused']);
  expect(asked(world)).toEqual([]);
  expect(holds(world)).toEqual(['released']);
});
