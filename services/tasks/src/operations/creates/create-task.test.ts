import { describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { LOST, accepted, refused, succeeded } from '../../../testing/fake-upstream.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import { LANE, QUEUE } from '../../../testing/queue-world.ts';
import type { World, WorldOptions } from '../../../testing/open-world.ts';
import {
  aContextIr,
  aRegeneration,
  aRegenerationByContent,
  aSound,
  aText,
  aVideo,
  anImage,
  anOrder,
} from '../../../testing/orders.ts';
import { catchRefusalFields } from '@reelgate/platform/testing/refusals';
import { outcomes } from '../../../testing/store/opened-store.ts';
import type { Order } from '../../domain/order.ts';
import { applyReport } from '../polls/apply-report.ts';
import type { CreateRequest } from '../create-context.ts';

const EVERY = { before: Number.MAX_SAFE_INTEGER, beyond: Number.MAX_SAFE_INTEGER, limit: 10 };
const open = useWorlds();

/** The calls to the ports, in order. */
const REFUSED_AND_RELEASED = ['store.refuse', 'billing.releaseHold', 'store.markSettled'];
/** The same calls from the point where media may be staged. */
const REFUSED_AND_REMOVED = ['store.refuse', 'billing.releaseHold', 'media.removeStaged', 'store.markSettled'];

/** A world with a completed 768P generation of the account acme and an empty journal. */
async function withSource(
  options: WorldOptions = {},
): Promise<{ readonly world: World; readonly sourceTaskId: string }> {
  const world = await open(options);
  const { task } = await world.create(anOrder({ duration: 9 }));
  const polled = succeeded();
  if (polled.found) await applyReport(world.deps, task, polled.report);
  world.journal.clear();
  return { world, sourceTaskId: task.id };
}

describe('the steps of a create', () => {
  test('are durable before each call to another process', async () => {
    const world = await open();

    const { task, replayed } = await world.create();

    expect(world.journal.names()).toEqual(['store.begin', 'billing.placeHold', 'main.submit', 'store.accept']);
    expect(task).toMatchObject({
      accountId: 'acme',
      tokenId: 'token_1',
      state: 'queued',
      admission: 'accepted',
      progress: 0,
      seconds: 5,
      order: anOrder(),
    });
    expect(task.mapping).toEqual({ channel: 'main', upstreamAccount: 'vendor', upstreamId: 'up-1' });
    expect(task.id).toMatch(/^task_[0-9a-v]{26}$/);
    expect(replayed).toBe(false);
    expect(world.counted).toEqual(['attempt main accepted', 'created generation']);
  });

  test('read the key first, and stage every media item before the submission', async () => {
    const world = await open();

    await world.create(anOrder({ content: [aText(), anImage('first_frame')] }), {
      idempotency: { key: 'k', fingerprint: 'f' },
    });

    expect(world.journal.names()).toEqual([
      'store.findKey',
      'store.begin',
      'billing.placeHold',
      'media.stage',
      'store.keepStaged',
      'store.startAttempt',
      'links.mediaUrl',
      'main.submit',
      'store.accept',
    ]);
  });

  test('extend the hold after the reference videos are probed, and before the submission', async () => {
    const world = await open();
    world.media.durationMs = 3001;

    const { task } = await world.create(
      anOrder({ content: [aText(), aVideo('reference_video'), aSound('reference_audio')] }),
    );

    expect(world.journal.names()).toEqual([
      'store.begin',
      'billing.placeHold',
      'media.stage',
      'media.stage',
      'billing.extendHold',
      'store.keepStaged',
      'store.startAttempt',
      'links.mediaUrl',
      'links.mediaUrl',
      'main.submit',
      'store.accept',
    ]);
    expect(world.billing.holds.get(task.id)?.facts).toMatchObject({ seconds: 5, inputVideoSeconds: 4 });
  });

  test('measure a regeneration by the seconds of its probed base video', async () => {
    const world = await open();
    world.media.durationMs = 6583;

    const { task } = await world.create(aRegenerationByContent());

    expect(task.seconds).toBe(6);
    expect(world.billing.holds.get(task.id)?.facts).toMatchObject({ priceKey: 'Alpha-H3__regeneration', seconds: 6 });
    expect(world.media.staged).toMatchObject([{ category: 'base_video' }]);
  });

  test('find the source before the first write, and send its upstream id', async () => {
    const { world, sourceTaskId } = await withSource();

    const { task } = await world.create(aRegeneration({ sourceTaskId }));

    expect(world.journal.names()).toEqual([
      'store.findOwned',
      'store.begin',
      'billing.placeHold',
      'store.startAttempt',
      'main.submit',
      'store.accept',
    ]);
    expect(task.seconds).toBe(9);
    expect(world.upstream.submitted.at(-1)?.attempt).toMatchObject({ kind: 'regeneration', sourceUpstreamId: 'up-1' });
    expect(world.billing.holds.get(task.id)?.facts?.seconds).toBe(9);
  });

  test('freeze the order of the client', async () => {
    const world = await open();
    const order = aContextIr({
      content: [aText('狐狸 🦊'), anImage()],
      callbackUrl: 'https://Client.example/a?b=%20',
      extraJson: '{"seed":7}',
    });

    const { task } = await world.create(order);

    expect((await world.deps.store.find(task.id))?.order).toEqual(order);
  });
});

type Refusal = readonly [
  what: string,
  refuse: (world: World) => Promise<unknown>,
  problem: object,
  calls: readonly string[],
];

describe('the announcement of a create', () => {
  test.each([
    ['accepted', accepted('up-1')],
    ['unknown', LOST],
  ])('follows when the task is %s, because its owner can see it from then on', async (admission, answer) => {
    const world = await open();
    world.upstream.answer('main', answer);

    const { task } = await world.create();

    expect(task.admission).toBe(admission);
    expect(world.announced).toEqual([expect.objectContaining({ id: task.id, accountId: 'acme', state: 'queued' })]);
  });

  test('does not come for a refused one', async () => {
    const world = await open();
    world.upstream.answer('main', refused('content'));
    await expect(world.create()).rejects.toMatchObject({ reason: 'content_rejected' });

    expect(world.announced).toEqual([]);
  });
});

describe('an invalid create', () => {
  test.each<[string, Order]>([
    ['no content', anOrder({ content: [] })],
    ['a text that is too long', anOrder({ content: [aText('x'.repeat(7001))] })],
    ['an unknown duration', anOrder({ duration: 99 })],
    ['two input modes', aRegeneration({ content: [aText(), aVideo('base_video')] })],
    ['two base videos', aRegenerationByContent([aText(), aVideo('base_video'), aVideo('base_video')])],
    ['a medium without an address', anOrder({ content: [aText(), { media: 'image', role: 'first_frame' }] })],
    ['context-IR of another model', aContextIr({ model: 'Other-V1' })],
    ['no model', anOrder({ model: '' })],
  ])('with %s calls no port', async (_what, order) => {
    const world = await open();

    await expect(world.create(order, { idempotency: { key: 'k', fingerprint: 'f' } })).rejects.toMatchObject({
      name: 'Problem',
      kind: 'invalid',
    });

    expect(world.journal.names()).toEqual([]);
    expect(world.counted).toEqual([]);
  });
});

describe('while the database is overloaded', () => {
  const idempotency = { key: 'k', fingerprint: 'f' };

  test('a new create begins nothing and is to be repeated', async () => {
    const world = await open({ isOverloaded: true });

    await expect(world.create(anOrder(), { idempotency })).rejects.toMatchObject({
      kind: 'unavailable',
      reason: 'service_unavailable',
      retryAfterMs: 5000,
    });

    expect(world.journal.names()).toEqual(['store.findKey']);
  });
});

describe('a refused create', () => {
  const image = anOrder({ content: [aText(), anImage('first_frame')] });
  const upstreamFile = anOrder({ content: [aText(), { media: 'image', role: 'first_frame', url: 'asset://a-1' }] });
  const video = anOrder({ content: [aText(), aVideo('reference_video'), aVideo('reference_video')] });
  const modelNotFound = { kind: 'not_found', reason: 'model_not_found', field: 'model' } as const;
  const capped: Partial<CreateRequest> = { inFlightLimit: 0 };

  test.each<Refusal>([
    ['for an unknown model', (world) => world.create(anOrder({ model: 'Nobody-V1' })), modelNotFound, []],
    [
      'for a model that is hidden from the token',
      (world) => world.create(anOrder(), { visibleModels: ['Other-V1'] }),
      modelNotFound,
      [],
    ],
    [
      'for a model that no channel serves',
      (world) => world.create(anOrder({ model: 'Other-V1', resolution: '480P' })),
      modelNotFound,
      [],
    ],
    [
      'for an upstream file that was not granted',
      (world) => world.create(upstreamFile),
      { reason: 'invalid_media', field: 'content' },
      [],
    ],
    [
      'for an unknown source',
      (world) => world.create(aRegeneration({ sourceTaskId: 'task_none' })),
      { kind: 'not_found', reason: 'task_not_found', field: 'source_task_id' },
      ['store.findOwned'],
    ],
    [
      'for a missing price',
      async (world) => {
        world.billing.unpriced.add('Alpha-H3');
        return world.create(image);
      },
      { reason: 'model_price_error' },
      ['store.begin', 'billing.placeHold', ...REFUSED_AND_RELEASED],
    ],
    [
      'for a missing price, despite a full counter',
      async (world) => {
        world.billing.unpriced.add('Alpha-H3');
        return world.create(image, capped);
      },
      { reason: 'model_price_error' },
      ['store.begin', 'billing.quote'],
    ],
    [
      'for too many tasks of its token',
      (world) => world.create(image, capped),
      { kind: 'exhausted', reason: 'too_many_tasks', retryAfterMs: 5000 },
      ['store.begin', 'billing.quote'],
    ],
    [
      'for too many tasks, despite a low balance',
      async (world) => {
        world.billing.funded = false;
        return world.create(image, capped);
      },
      { reason: 'too_many_tasks' },
      ['store.begin', 'billing.quote'],
    ],
    [
      'for a balance that does not cover it',
      async (world) => {
        world.billing.funded = false;
        return world.create(image);
      },
      { kind: 'exhausted', reason: 'insufficient_quota', retryAfterMs: undefined },
      ['store.begin', 'billing.placeHold', ...REFUSED_AND_RELEASED],
    ],
    [
      'for a price above its bound',
      (world) => world.create(image, { beside: { maxAmountNanos: 399_999_999n } }),
      { kind: 'unprocessable', reason: 'price_above_max' },
      ['store.begin', 'billing.placeHold', ...REFUSED_AND_RELEASED],
    ],
    [
      'for a media item that cannot be staged',
      async (world) => {
        world.journal.fail(
          'media.stage',
          new Problem({ kind: 'invalid', reason: 'invalid_media', message: 'is no image' }),
        );
        return world.create(image);
      },
      { reason: 'invalid_media', field: 'content[1].image_url', message: 'is no image' },
      ['store.begin', 'billing.placeHold', 'media.stage', ...REFUSED_AND_REMOVED],
    ],
    [
      'for too much reference video in total',
      async (world) => {
        world.media.durationMs = 7800;
        return world.create(video);
      },
      { reason: 'invalid_media', field: 'content', message: expect.stringMatching(/at most 15 seconds/) },
      ['store.begin', 'billing.placeHold', 'media.stage', 'media.stage', ...REFUSED_AND_REMOVED],
    ],
    [
      'when its hold cannot be extended',
      async (world) => {
        world.journal.fail(
          'billing.extendHold',
          new Problem({ kind: 'exhausted', reason: 'insufficient_quota', message: 'no' }),
        );
        return world.create(video);
      },
      { reason: 'insufficient_quota' },
      ['store.begin', 'billing.placeHold', 'media.stage', 'media.stage', 'billing.extendHold', ...REFUSED_AND_REMOVED],
    ],
  ])('%s calls no port after its refusal is known', async (_what, refuse, problem, calls) => {
    const world = await open();

    await expect(refuse(world)).rejects.toMatchObject({ name: 'Problem', ...problem });

    expect(world.journal.names()).toEqual(calls);
    expect(world.upstream.submitted).toEqual([]);
  });

  test('is hidden, holds no money, counts nowhere and leaves its key free', async () => {
    const world = await open();
    world.upstream.answer('main', refused('content'));

    await expect(world.create(anOrder(), { idempotency: { key: 'k', fingerprint: 'f' } })).rejects.toMatchObject({
      reason: 'content_rejected',
    });

    const [task] = await world.deps.store.list({ hidden: true }, { limit: 10 });
    expect(task).toMatchObject({ admission: 'refused', failure: { code: 'content_rejected' } });
    expect(await world.deps.store.list({ accountId: 'acme' }, { limit: 10 })).toEqual([]);
    expect(await outcomes(world.deps.store, task!.id)).toEqual(['refused']);
    expect(world.billing.holds.get(task!.id)?.state).toBe('released');
    expect(
      await Promise.all(['total', 'token:token_1', 'channel:main'].map((scope) => world.deps.store.inFlight(scope))),
    ).toEqual([0, 0, 0]);
    expect(await world.deps.store.listUnsettled(EVERY)).toEqual([]);
    expect((await world.create(anOrder(), { idempotency: { key: 'k', fingerprint: 'f' } })).replayed).toBe(false);
  });

  test('names its reason even when only the sweep can release its hold', async () => {
    const world = await open();
    world.upstream.answer('main', refused('order'));
    world.journal.fail('billing.releaseHold', new Error('billing is away'));

    await expect(world.create()).rejects.toMatchObject({ reason: 'invalid_request' });

    expect((await world.deps.store.listUnsettled(EVERY)).map(({ admission }) => admission)).toEqual(['refused']);
  });

  test('has no hold even when the answer to the hold was lost', async () => {
    const world = await open();
    world.journal.put(async ({ name }, proceed) => {
      const answer = await proceed();
      if (name === 'billing.placeHold') throw new Error('the answer was lost');
      return answer;
    });

    await expect(world.create()).rejects.toThrow('the answer was lost');

    expect([...world.billing.holds.values()].map(({ state }) => state)).toEqual(['released']);
    expect(world.upstream.submitted).toEqual([]);
  });

  test('releases nothing when another process took it over and kept it', async () => {
    const world = await open();
    world.upstream.answer('main', refused('content'));
    world.journal.put(async ({ name, args: [taskId] }, proceed) => {
      if (name === 'store.refuseAttempt') {
        await world.deps.store.leaveUnknown(String(taskId), {
          number: 1,
          mapping: { channel: 'main', upstreamAccount: 'vendor' },
          error: 'cut off',
          at: world.clock.now(),
        });
      }
      return proceed();
    });

    await expect(world.create()).rejects.toMatchObject({ reason: 'content_rejected' });

    expect(world.journal.names()).not.toContain('billing.releaseHold');
    expect([...world.billing.holds.values()].map(({ state }) => state)).toEqual(['held']);
  });
});

describe('the source of a regeneration', () => {
  test('of another account is refused like one that does not exist', async () => {
    const { world, sourceTaskId } = await withSource();
    const queued = (await world.create()).task.id;
    const asked = (id: string) =>
      catchRefusalFields(world.create(aRegeneration({ sourceTaskId: id }), { accountId: 'rival' }));

    const [none, foreign, foreignAndUnfit] = await Promise.all([
      asked('task_none'),
      asked(sourceTaskId),
      asked(queued),
    ]);

    expect(none).toMatchObject({ kind: 'not_found', reason: 'task_not_found' });
    expect(foreign).toEqual(none);
    expect(foreignAndUnfit).toEqual(none);
  });

  test.each<[string, Partial<Order>, string]>([
    ['not finished', {}, 'source_task_not_ready'],
    ['context-IR', aContextIr({ resolution: undefined }), 'source_task_unsupported'],
  ])('that is %s is refused before anything is written', async (_what, changes, reason) => {
    const world = await open();
    const { task } = await world.create(anOrder(changes));
    world.journal.clear();

    await expect(world.create(aRegeneration({ sourceTaskId: task.id }))).rejects.toMatchObject({
      kind: 'invalid',
      reason,
      field: 'source_task_id',
    });

    expect(world.journal.names()).toEqual(['store.findOwned']);
  });

  test('is regenerated only by a channel of its own upstream account', async () => {
    const channels = [
      channelSettings({ id: 'foreign', upstreamAccount: 'rival', priority: 9 }),
      channelSettings(),
      channelSettings({ id: 'sibling', priority: -1 }),
    ];
    const { world, sourceTaskId } = await withSource({
      channels: channels.map((one) => ({
        ...one,
        endpoints: one.id === 'foreign' ? ['video.regeneration'] : one.endpoints,
      })),
    });
    world.upstream.answer('main', refused('channel'));

    const { task } = await world.create(aRegeneration({ sourceTaskId }));

    expect(world.upstream.submitted.slice(1).map(({ channel }) => channel)).toEqual(['main', 'sibling']);
    expect(task.mapping?.channel).toBe('sibling');
  });

  test('is refused when no channel of its upstream account regenerates', async () => {
    const channels = [
      channelSettings({ endpoints: ['video.generation'] }),
      channelSettings({ id: 'foreign', upstreamAccount: 'rival', endpoints: ['video.regeneration'] }),
    ];
    const { world, sourceTaskId } = await withSource({ channels });

    await expect(world.create(aRegeneration({ sourceTaskId }))).rejects.toMatchObject({
      reason: 'source_task_unsupported',
      field: 'source_task_id',
    });

    expect(world.journal.names()).toEqual(['store.findOwned']);
  });
});

test('an upstream file goes unchanged to a channel of the granted account only', async () => {
  const channels = [channelSettings({ id: 'foreign', upstreamAccount: 'rival', priority: 9 }), channelSettings()];
  const world = await open({ channels, grants: new Map([['acme', ['vendor']]]) });
  const url = 'mm_file://424010985738629';

  await world.create(anOrder({ content: [aText(), { media: 'image', role: 'first_frame', url }] }));

  expect(world.upstream.submitted).toMatchObject([{ channel: 'main', attempt: { content: [{}, { url }] } }]);
  expect(world.journal.names().filter((name) => /^(media|links)\./.test(name))).toEqual([]);
});

test('a base video in an upstream file cannot be probed, so its hold is that of the longest base video', async () => {
  const world = await open({ channels: [channelSettings()], grants: new Map([['acme', ['vendor']]]) });

  await world.create(
    aRegenerationByContent([aText(), { media: 'video', role: 'base_video', url: 'mm_file://424010985738629' }]),
  );

  expect([...world.billing.holds.values()]).toMatchObject([{ state: 'held', facts: { seconds: 15 } }]);
});

test("a token's own limit replaces the configured limit", async () => {
  const world = await open({ limits: { inFlightPerToken: 1, inFlightTotal: 10 } });
  world.upstream.answer('main', accepted('a'), accepted('b'));

  await world.create(anOrder(), { inFlightLimit: 2 });
  await world.create(anOrder(), { inFlightLimit: 2 });

  await expect(world.create(anOrder(), { inFlightLimit: 2 })).rejects.toMatchObject({ reason: 'too_many_tasks' });
  await expect(world.create()).rejects.toMatchObject({ reason: 'too_many_tasks' });
});

test('a create is sent although others wait for its channel, if the queue is switched off', async () => {
  const world = await open({ queue: QUEUE });
  world.deps.queue.lanes.replace([LANE]);
  Object.assign(world.deps.queue, { limits: undefined });

  const { task } = await world.create();

  expect(task.admission).toBe('accepted');
});
