import { describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { NO_SPAN } from '@reelgate/platform/trace/trace';
import { RESULT_EXPIRES_AT } from '../../../testing/fake-media.ts';
import { useWorlds } from '../../../testing/open-world.ts';
import type { World } from '../../../testing/open-world.ts';
import { aContextIr, anOrder } from '../../../testing/orders.ts';
import type { Order } from '../../domain/order.ts';
import type { Report } from '../../domain/report.ts';
import type { Task } from '../../domain/task.ts';
import { settleTask } from '../ends/end-task.ts';
import { applyReport } from './apply-report.ts';

type Success = Extract<Report, { phase: 'succeeded' }>;

const open = useWorlds();
const TO_ATTENTION = 5;
const TO_FAILURE = 20;
const BUSY = new Problem({
  kind: 'unavailable',
  reason: 'media_busy',
  message: 'the result could not be fetched now',
  retryAfterMs: 1000,
});
const GONE = new Problem({ kind: 'invalid', reason: 'invalid_media', message: 'it could not be fetched' });
const success = (changes: Partial<Success> = {}): Success => ({
  phase: 'succeeded',
  status: 'succeeded',
  url: 'https://cdn.vendor.example/1',
  ...changes,
});

async function withTask(order: Order = anOrder()) {
  const world = await open();
  const { id } = (await world.create(order)).task;
  const now = async (): Promise<Task> => (await world.deps.store.find(id))!;
  const succeed = async (changes: Partial<Success> = {}): Promise<Task> => {
    await applyReport(world.deps, await now(), success(changes));
    return now();
  };
  return { world, id, now, succeed };
}

const waiting = async ({ deps }: World): Promise<string[]> =>
  (await deps.store.listOpenAttention()).map(({ reason }) => reason);

describe('a finished video', () => {
  test('is completed only after its bytes are stored', async () => {
    const { world, id, now, succeed } = await withTask();
    let whileFetching: Task | undefined;
    world.journal.put(async ({ name }, proceed) => {
      if (name === 'media.ingest') whileFetching = await now();
      return proceed();
    });

    const task = await succeed({ usage: { totalSeconds: 5, completionTokens: 260_390 } });

    expect(whileFetching?.state).toBe('queued');
    expect(task).toMatchObject({
      state: 'completed',
      progress: 100,
      upstreamStatus: 'succeeded',
      finishedAt: world.clock.now(),
      expiresAt: RESULT_EXPIRES_AT,
      result: { object: `res-${id}`, width: 1344, height: 768, durationMs: 5167 },
      usage: { totalSeconds: 5, completionTokens: 260_390 },
    });
    expect(JSON.stringify(task.result)).not.toContain('cdn.vendor.example');
    expect(await world.sql.read('SELECT id FROM outbox')).toEqual([{ id }]);
  });

  test.each([
    [0, 0],
    [350_000, 350_000],
    [2 ** 40, 2 ** 40],
    [undefined, undefined],
    [-1, undefined],
    [0.5, undefined],
    [NaN, undefined],
    [2e15, undefined],
  ])('whose upstream charged %p millionths of a dollar is kept with %p', async (costMicroUsd, kept) => {
    const { succeed } = await withTask();

    expect((await succeed({ costMicroUsd })).upstreamCostMicroUsd).toBe(kept);
  });

  test('waits its usual interval each time that media is busy, and needs no decision', async () => {
    const { world, id, succeed } = await withTask();
    for (let pass = 0; pass < TO_ATTENTION + 2; pass += 1) {
      world.journal.fail('media.ingest', BUSY);
      await world.clock.advance(10_000);
      const task = await succeed();
      expect(task).toMatchObject({ state: 'queued', pollErrors: 0 });
      expect(task.nextPollAt! - world.clock.now()).toBeLessThanOrEqual(15_000);
      expect(task.doubt).toBeUndefined();
    }

    expect(await waiting(world)).toEqual([]);
    expect(await succeed()).toMatchObject({ state: 'completed', result: { object: `res-${id}` } });
  });

  test.each<[string, string, number | undefined, number]>([
    ['dies at an unknown time', 'its whole interval', undefined, 1],
    ['dies much later', 'its whole interval', 3_600_000, 1],
    ['dies soon', 'a quarter of its interval', 30_000, 4],
    ['is dead', 'its whole interval', -1, 1],
  ])('whose address %s waits %s for a busy media', async (_when, _wait, livesMs, haste) => {
    const { world, succeed } = await withTask();
    world.journal.fail('media.ingest', BUSY, 2);
    const at = world.clock.now();
    const interval = (await succeed()).nextPollAt! - at;

    const task = await succeed({ urlDiesAt: livesMs === undefined ? undefined : at + livesMs });

    expect(task).toMatchObject({ state: 'queued', pollErrors: 0, nextPollAt: at + interval / haste });
  });

  test('without reachable bytes is not completed, and the next poll requests a fresh link', async () => {
    const { world, id, succeed } = await withTask();
    world.journal.fail('media.ingest', GONE);

    expect(await succeed({ url: 'https://cdn.vendor.example/old' })).toMatchObject({
      state: 'queued',
      pollErrors: 1,
      nextPollAt: world.clock.now() + 6000,
    });
    expect(await world.sql.read('SELECT id FROM outbox')).toEqual([]);

    expect(await succeed({ url: 'https://cdn.vendor.example/fresh' })).toMatchObject({
      state: 'completed',
      result: { object: `res-${id}` },
    });
    expect(world.media.ingested).toEqual(['https://cdn.vendor.example/fresh']);
  });

  test.each<[string, unknown]>([
    ['a refusal of the bytes', GONE],
    ['a fault of this service', new Error('boom')],
  ])('that fails five times for %s asks for a decision, keeps its hold and is tried again', async (_what, error) => {
    const { world, succeed } = await withTask();
    world.journal.fail('media.ingest', error, TO_ATTENTION);

    for (let time = 1; time < TO_ATTENTION; time += 1) await succeed();
    expect(await waiting(world)).toEqual([]);

    await succeed();
    expect(await waiting(world)).toEqual(['result_unavailable']);
    expect([...world.billing.holds.values()].map(({ state }) => state)).toEqual(['held']);

    expect((await succeed()).state).toBe('completed');
    expect(await waiting(world)).toEqual([]);
  });

  test('without a URL is polled again, and asks for a decision after five times', async () => {
    const { world, succeed } = await withTask();

    for (let time = 1; time <= TO_ATTENTION; time += 1)
      expect(await succeed({ url: undefined })).toMatchObject({ state: 'queued', pollErrors: time });

    expect(await waiting(world)).toEqual(['no_result']);
    expect(world.media.ingested).toEqual([]);
  });

  test('that stays without a URL fails in the end, with its hold released and nothing left to decide', async () => {
    const { world, now, succeed } = await withTask();

    for (let time = 1; time < TO_FAILURE; time += 1)
      expect(await succeed({ url: undefined })).toMatchObject({ state: 'queued' });

    expect(await succeed({ url: undefined })).toMatchObject({ state: 'failed', failure: { code: 'no_result' } });
    expect(await waiting(world)).toEqual([]);
    await settleTask(world.deps, await now(), NO_SPAN);
    expect([...world.billing.holds.values()].map(({ state }) => state)).toEqual(['released']);
  });

  test('needs no prompt', async () => {
    const { succeed } = await withTask();

    expect((await succeed({ prompt: 'not for videos' })).result).not.toHaveProperty('prompt');
  });

  test('whose task ends during the fetch stays as it ended', async () => {
    const { world, id, succeed } = await withTask();
    world.journal.put(async ({ name }, proceed) => {
      if (name === 'media.ingest')
        await world.deps.store.finish(id, { state: 'failed', at: 7, failure: { code: 'cancelled', message: '' } });
      return proceed();
    });

    expect(await succeed()).toMatchObject({ state: 'failed', finishedAt: 7 });
    expect(await world.sql.read('SELECT id FROM outbox')).toHaveLength(1);
  });
});

describe('a finished context-IR', () => {
  test('is completed with its prompt, and nothing is fetched', async () => {
    const { world, succeed } = await withTask(aContextIr());

    expect(
      await succeed({
        url: undefined,
        prompt: 'integrated_multimodal_description: …',
        usage: { promptTokens: 5664 },
      }),
    ).toMatchObject({
      state: 'completed',
      result: { prompt: 'integrated_multimodal_description: …' },
      usage: { promptTokens: 5664 },
      expiresAt: undefined,
    });
    expect(world.media.ingested).toEqual([]);
  });

  test('without a prompt is not completed, even with a URL', async () => {
    const { world, succeed } = await withTask(aContextIr());

    for (let time = 1; time <= TO_ATTENTION; time += 1)
      expect(await succeed()).toMatchObject({ state: 'queued', pollErrors: time });

    expect(await waiting(world)).toEqual(['no_result']);
    expect(world.media.ingested).toEqual([]);
  });
});
