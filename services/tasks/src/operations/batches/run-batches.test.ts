import { describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { aCallLine, aLine, useBatchWorlds } from '../../../testing/batches/batch-world.ts';
import type { BatchWorld } from '../../../testing/batches/batch-world.ts';
import { channelSettings } from '../../../testing/channel-settings.ts';
import { refused } from '../../../testing/fake-upstream.ts';
import { anAnswer } from '../../../testing/jobs/new-jobs.ts';
import { LIMITS as JOB_LIMITS } from '../../../testing/jobs/open-job-world.ts';
import { anOrder } from '../../../testing/orders.ts';
import { QUEUE } from '../../../testing/queue-world.ts';
import type { Batch } from '../../domain/batch.ts';
import { cancelBatch, createBatch, digestBatch, getBatch, listBatches, nameStatus } from './create-batch.ts';
import { runBatches } from './run-batches.ts';
import { finishRead, leaseBatch } from './work-batches.ts';
import { settleFinished } from '../../workers/settle-finished.ts';

const open = useBatchWorlds();
const SECOND_MS = 1000;
const DAY_MS = 24 * 3_600_000;

/** A batch of these lines, in progress. */
async function begin(world: BatchWorld, lines = 3, metadata: Readonly<Record<string, string>> = {}): Promise<Batch> {
  const { batch } = await world.submit({ metadata });
  await world.read(Array.from({ length: lines }, (_none, index) => aLine(index + 1)));
  return batch;
}
const find = async ({ batches }: BatchWorld, { id }: Batch): Promise<Batch> => getBatch(batches, 'acme', id);
const countTasks = async ({ deps }: BatchWorld): Promise<number> =>
  (await deps.store.list({ accountId: 'acme' }, { limit: 100 })).length;
const runLater = async (world: BatchWorld, ms = SECOND_MS): Promise<void> => {
  await world.clock.advance(ms);
  await world.run();
};

test('as many lines of a batch have a task as it may have in flight, and others follow as they end', async () => {
  const world = await open({ limits: { inFlight: 2 } });
  const batch = await begin(world, 5);
  await world.run();
  await runLater(world);
  expect(await countTasks(world)).toBe(2);
  await world.completeTasks();
  await runLater(world);
  expect([await countTasks(world), (await find(world, batch)).completed]).toEqual([4, 2]);
  await world.completeTasks();
  await runLater(world);
  await world.completeTasks();
  await runLater(world);
  expect(nameStatus(await find(world, batch))).toBe('finalizing');
  expect(await world.write()).toEqual({ output: [1, 2, 3, 4, 5], errors: [] });
  expect(await find(world, batch)).toMatchObject({ outcome: 'completed', total: 5, completed: 5, failed: 0 });
});

test('many batches share the steps of a pass: each has one, although it has more lines', async () => {
  const [batches, stepLines] = [9, 16];
  const world = await open({
    limits: { inFlight: 100, perAccount: batches },
    world: {
      channels: [channelSettings({ inFlightMax: 1000, requestsPerMinute: 10_000 })],
      limits: { inFlightPerToken: 1000, inFlightTotal: 1000 },
    },
  });
  for (let count = 0; count < batches; count += 1) await begin(world, stepLines + 1);

  await world.run();

  expect(world.upstream.submitted).toHaveLength(batches * stepLines);
});

describe('what lines were charged', () => {
  /** The fake takes 0.08 a second, and a line has five seconds. */
  const LINE = 5n * 80_000_000n;
  const settle = async (world: BatchWorld): Promise<void> => {
    await world.completeTasks();
    await world.clock.advance(5 * SECOND_MS);
    await settleFinished(world.deps);
  };

  test('is summed as they are settled, each once, and stands when the batch ends', async () => {
    const world = await open({ limits: { inFlight: 2 } });
    const batch = await begin(world, 3);
    await world.run();
    const sums = [];
    for (let round = 0; round < 3; round += 1) {
      await settle(world);
      await runLater(world);
      await runLater(world);
      const { chargedNanos, currency } = await find(world, batch);
      sums.push([chargedNanos, currency]);
    }
    await world.write();
    const ended = await find(world, batch);

    expect(sums).toEqual([
      [2n * LINE, 'USD'],
      [3n * LINE, 'USD'],
      [3n * LINE, 'USD'],
    ]);
    expect(ended).toMatchObject({ phase: 'ended', chargedNanos: 3n * LINE, currency: 'USD', uncharged: 0 });
  });
  test('is counted at the end of the batch too, and a line that is not settled by then is told of', async () => {
    const world = await open({ limits: { inFlight: 3 } });
    const batch = await begin(world, 3);
    await world.run();
    await world.completeTasks();
    await runLater(world);
    const before = await find(world, batch);
    const [first] = await world.deps.store.list({ accountId: 'acme' }, { limit: 9 });
    world.billing.overrun.add(first!.id);
    await world.clock.advance(5 * SECOND_MS);
    await settleFinished(world.deps);
    await world.write();

    expect(before).toMatchObject({ phase: 'writing', chargedNanos: 0n, currency: undefined });
    expect(await find(world, batch)).toMatchObject({ phase: 'ended', chargedNanos: 2n * LINE, uncharged: 1 });
  });
  test('is counted later if billing cannot be asked now, and holds no line up', async () => {
    const world = await open({ limits: { inFlight: 3 } });
    const batch = await begin(world, 2);
    await world.run();
    await settle(world);
    const away = { listFinalCharges: () => Promise.reject(new Error('billing is away')) };
    await runBatches({ ...world.batches, charges: away });
    const without = await find(world, batch);
    await world.write();

    expect(without).toMatchObject({ phase: 'writing', completed: 2, chargedNanos: 0n });
    expect((await find(world, batch)).chargedNanos).toBe(2n * LINE);
  });
});

test('lines are of the class batch, and wait for a channel', async () => {
  const world = await open({
    limits: { inFlight: 3 },
    world: { channels: [channelSettings({ inFlightMax: 1 })], queue: QUEUE },
  });
  await begin(world);
  await world.run();
  const waiting = (await world.deps.store.list({ accountId: 'acme' }, { limit: 10 })).filter(
    ({ admission }) => admission === 'waiting',
  );
  expect(waiting).toHaveLength(2);
  const lanes = await world.sql.read('SELECT DISTINCT lane FROM waiting');
  expect(lanes.map(({ lane }) => String(lane))).toEqual([expect.stringContaining('"batch"')]);
});

test('what the lines make has the label of their batch', async () => {
  const world = await open();
  await world.submit({ label: 'spring' });
  await world.read([aLine(1), aCallLine(2)]);
  await world.run();
  const [task] = await world.deps.store.list({ accountId: 'acme' }, { limit: 10 });
  const [call] = await world.sql.read('SELECT call_json FROM job_calls');

  expect(task?.label).toBe('spring');
  expect(JSON.parse(String(call?.['call_json']))).toMatchObject({ label: 'spring' });
});

describe('accounts take turns', () => {
  const submitMany = async (world: BatchWorld, count: number): Promise<void> => {
    for (let made = 0; made < count; made += 1) {
      await world.submit();
      await world.clock.advance(1);
    }
  };

  test('so that one line of another account begins in the next pass, however many batches are before it', async () => {
    const world = await open({ limits: { inFlight: 50, perAccount: 100 } });
    await submitMany(world, 40);
    for (let read = 0; read < 40; read += 1) await world.read(Array.from({ length: 60 }, (_none, at) => aLine(at + 1)));
    await world.run();
    await world.submit({ accountId: 'other', tokenId: 'token_2' });
    await world.read([aLine(1)]);
    await world.run();

    expect(await world.deps.store.list({ accountId: 'other' }, { limit: 9 })).toHaveLength(1);
  });

  test('to have their files read, and an account has two of them read at once', async () => {
    const world = await open({ limits: { perAccount: 100 } });
    await submitMany(world, 40);
    const first = [await leaseBatch(world.batches), await leaseBatch(world.batches), await leaseBatch(world.batches)];
    expect(first.map((leased) => leased?.batch.accountId)).toEqual(['acme', 'acme', undefined]);

    await world.submit({ accountId: 'other', tokenId: 'token_2' });
    expect((await leaseBatch(world.batches))?.batch.accountId).toBe('other');
  });

  test('and of an account its oldest batch is first', async () => {
    const world = await open({ limits: { perAccount: 100 } });
    await submitMany(world, 3);
    const { batches } = await listBatches(world.batches, 'acme', { limit: 9, after: undefined });
    const ids = batches.map(({ id }) => id).reverse();

    expect((await leaseBatch(world.batches))?.batch.id).toBe(ids[0]);
    expect((await leaseBatch(world.batches))?.batch.id).toBe(ids[1]);
  });
});

describe('a refusal', () => {
  test('names the fields of an order as its client does', async () => {
    const world = await open();
    await world.submit();
    const order = anOrder({ duration: 99 });
    const body = (names?: Readonly<Record<string, string>>) => ({ order, ...(names && { names }) });
    await world.read([
      { number: 1, customId: 'a', body: body({ duration: 'seconds' }) },
      { number: 2, customId: 'b', body: body({ ratio: 'size' }) },
      { number: 3, customId: 'c', body: body() },
    ]);
    await world.run();
    const faults = await world.sql.read('SELECT fault_json FROM batch_lines ORDER BY number');

    expect(faults.map((row) => JSON.parse(String(row['fault_json'])) as object)).toMatchObject(
      ['seconds', 'duration', 'duration'].map((param) => ({
        param,
        message: expect.stringMatching(new RegExp(`^${param} must be`)),
      })),
    );
  });

  test('that will pass is tried again after a pause, and begins no further line', async () => {
    const world = await open({ limits: { inFlight: 3 }, world: { channels: [channelSettings({ id: 'main' })] } });
    const batch = await begin(world);
    world.upstream.answer('main', refused('throttle', 3 * SECOND_MS), refused('throttle'), refused('throttle'));
    await world.run();
    expect(await find(world, batch)).toMatchObject({ failed: 0 });
    await runLater(world, 30 * SECOND_MS);
    expect([await countTasks(world), (await find(world, batch)).failed]).toEqual([3, 0]);
  });

  test('for the balance ends the line', async () => {
    const world = await open();
    const batch = await begin(world, 1);
    world.billing.funded = false;
    await world.run();
    expect(await find(world, batch)).toMatchObject({ phase: 'writing', failed: 1 });
    expect((await world.write())?.errors).toEqual([[1, 'insufficient_quota']]);
  });

  test('by billing that is away ends nothing', async () => {
    const world = await open();
    const batch = await begin(world, 1);
    const away = new Problem({
      kind: 'unavailable',
      reason: 'service_unavailable',
      message: 'away',
      retryAfterMs: 500,
    });
    world.journal.fail('billing.placeHold', away);
    await world.run();
    await runLater(world, 5 * SECOND_MS);
    expect([await countTasks(world), (await find(world, batch)).failed]).toEqual([1, 0]);
  });
});

test('a cancelled batch begins no line, and cancels what waits', async () => {
  const world = await open({
    limits: { inFlight: 2 },
    world: { channels: [channelSettings({ inFlightMax: 1 })], queue: QUEUE },
  });
  const batch = await begin(world, 4);
  await world.run();
  expect(nameStatus(await cancelBatch(world.batches, 'acme', batch.id))).toBe('cancelling');
  expect(nameStatus(await cancelBatch(world.batches, 'acme', batch.id))).toBe('cancelling');
  await world.run();
  await runLater(world, 5 * SECOND_MS);
  // the first one has its turn already
  expect(await find(world, batch)).toMatchObject({ total: 4, completed: 0, failed: 3, phase: 'running' });
  await world.completeTasks();
  await runLater(world, 5 * SECOND_MS);
  expect(await world.write()).toEqual({
    output: [1, 2],
    errors: [
      [3, 'batch_cancelled'],
      [4, 'batch_cancelled'],
    ],
  });
  const ended = await find(world, batch);
  expect([nameStatus(ended), ended.completed, ended.failed]).toEqual(['cancelled', 1, 3]);
});

test('a batch that is cancelled while its file is read stores no further line', async () => {
  const world = await open();
  const { batch } = await world.submit();
  const leased = await leaseBatch(world.batches);
  await cancelBatch(world.batches, 'acme', batch.id);
  expect(await finishRead(world.batches, leased!.lease, { model: 'Alpha-H3', faults: [] })).toBe(false);
  await world.run();
  await world.write();
  expect(nameStatus(await find(world, batch))).toBe('cancelled');
});

test('after its time lines without a task expire, and tasks that run finish', async () => {
  const world = await open({ limits: { inFlight: 1 } });
  const batch = await begin(world);
  await world.run();
  await runLater(world, DAY_MS);
  expect(await find(world, batch)).toMatchObject({ failed: 2, phase: 'running' });
  await world.completeTasks();
  await runLater(world);
  expect(await world.write()).toEqual({
    output: [1],
    errors: [
      [2, 'batch_expired'],
      [3, 'batch_expired'],
    ],
  });
  expect(nameStatus(await find(world, batch))).toBe('expired');
});

test('a revoked token stops its batch, and billing that is away does not', async () => {
  let refusal: Problem | undefined;
  const world = await open({
    limits: { inFlight: 1 },
    findRights: () => {
      if (refusal !== undefined) throw refusal;
      return {
        accountId: 'acme',
        models: ['*'],
        inFlight: undefined,
        wait: { for: 'channels', class: 'standard' },
        makers: [],
        expiresAt: undefined,
      };
    },
  });
  const batch = await begin(world);
  await world.run();
  refusal = new Problem({ kind: 'unavailable', reason: 'service_unavailable', message: 'away' });
  await runLater(world);
  expect(await find(world, batch)).toMatchObject({ failed: 0, outcome: undefined });
  refusal = new Problem({ kind: 'forbidden', reason: 'token_disabled', message: 'revoked' });
  await runLater(world, 10 * SECOND_MS);
  await world.completeTasks();
  await runLater(world);
  expect(await world.write()).toEqual({
    output: [1],
    errors: [
      [2, 'token_disabled'],
      [3, 'token_disabled'],
    ],
  });
  expect(nameStatus(await find(world, batch))).toBe('cancelled');
});

describe('a batch of calls', () => {
  const beginCalls = async (
    world: BatchWorld,
    calls = 3,
    metadata: Readonly<Record<string, string>> = {},
  ): Promise<Batch> => {
    const { batch } = await world.submit({ metadata, endpoint: '/v1/chat/completions' });
    await world.read(Array.from({ length: calls }, (_none, index) => aCallLine(index + 1)));
    return batch;
  };

  test('makes jobs of its lines, as many at once as it may, and ends with their answers', async () => {
    const world = await open({ limits: { inFlight: 2 } });
    const batch = await beginCalls(world);
    await world.run();
    expect(await world.makeCalls()).toBe(2);
    await runLater(world);
    expect(await find(world, batch)).toMatchObject({ completed: 2, failed: 0, phase: 'running' });
    expect(await world.makeCalls()).toBe(1);
    await runLater(world);
    expect(await world.write()).toEqual({ output: [1, 2, 3], errors: [] });
    expect([await find(world, batch), await countTasks(world)]).toMatchObject([{ outcome: 'completed' }, 0]);
  });

  test('leaves half of the limit of its token to other calls', async () => {
    const world = await open({ limits: { inFlight: 100 } });
    const batch = await beginCalls(world, JOB_LIMITS.perToken);
    await world.run();
    expect(await world.makeCalls()).toBe(JOB_LIMITS.perToken / 2);
    await runLater(world, 60 * SECOND_MS);
    expect(await world.makeCalls()).toBe(JOB_LIMITS.perToken / 2);
    await runLater(world);
    expect(await find(world, batch)).toMatchObject({ completed: JOB_LIMITS.perToken, failed: 0 });
  });

  test('has a call that failed in the file of its errors', async () => {
    const world = await open();
    const batch = await beginCalls(world, 1);
    await world.run();
    await world.makeCalls({ answer: anAnswer({ statusCode: 400 }), failure: { code: 'bad_word', message: 'no' } });
    await runLater(world);
    expect(await find(world, batch)).toMatchObject({ completed: 0, failed: 1 });
    expect(await world.write()).toEqual({ output: [], errors: [[1, 'bad_word']] });
  });

  test('with a bound makes no call, because the price of a call is not known before', async () => {
    const world = await open();
    await beginCalls(world, 2, { max_amount: '5' });
    await world.run();
    expect([await world.makeCalls(), await world.write()]).toEqual([
      0,
      {
        output: [],
        errors: [
          [1, 'invalid_request'],
          [2, 'invalid_request'],
        ],
      },
    ]);
  });

  test('that is cancelled makes no further call, and waits for those that it has made', async () => {
    const world = await open({ limits: { inFlight: 1 } });
    const batch = await beginCalls(world);
    await world.run();
    await cancelBatch(world.batches, 'acme', batch.id);
    await runLater(world);
    expect(await find(world, batch)).toMatchObject({ failed: 2, phase: 'running' });
    expect(await world.makeCalls()).toBe(1);
    await runLater(world);
    expect(await world.write()).toEqual({
      output: [1],
      errors: [
        [2, 'batch_cancelled'],
        [3, 'batch_cancelled'],
      ],
    });
  });
});

describe('the create of a batch', () => {
  const REQUEST = {
    accountId: 'acme',
    tokenId: 'token_1',
    requestId: undefined,
    endpoint: '/v1/videos',
    inputFileId: 'file_1',
    metadata: {},
    outputExpiresAfterMs: undefined,
    label: undefined,
  };

  test('with a key is repeated for the same request alone', async () => {
    const { batches } = await open();
    const keyed = { ...REQUEST, idempotency: { key: 'k', fingerprint: digestBatch(REQUEST) } };
    const { batch } = await createBatch(batches, keyed);
    expect(await createBatch(batches, keyed)).toEqual({ batch, replayed: true });
    const other = { ...REQUEST, inputFileId: 'file_2' };
    await expect(
      createBatch(batches, { ...other, idempotency: { key: 'k', fingerprint: digestBatch(other) } }),
    ).rejects.toMatchObject({ reason: 'idempotency_key_reused' });
  });

  test('is refused as an upload is if files and ended batches take all that the account may store', async () => {
    const world = await open();
    const { batches, media } = world;
    const keyed = { ...REQUEST, idempotency: { key: 'k', fingerprint: digestBatch(REQUEST) } };
    const { batch } = await createBatch(batches, keyed);
    const leased = await leaseBatch(batches);
    await finishRead(batches, leased!.lease, { model: '', faults: [{ code: 'invalid_request', message: 'no' }] });

    media.fileRoom.set('acme', 16 * 1024 + 1);
    const second = await createBatch(batches, REQUEST);
    media.fileRoom.set('acme', 16 * 1024);
    await expect(createBatch(batches, REQUEST)).rejects.toMatchObject({ kind: 'unprocessable', reason: 'file_limit' });
    // a batch that has begun is there all the same, and another account is not concerned
    expect((await createBatch(batches, keyed)).batch.id).toBe(batch.id);
    expect((await find(world, second.batch)).phase).toBe('reading');
    expect((await createBatch(batches, { ...REQUEST, accountId: 'other' })).replayed).toBe(false);
  });

  test('beyond the limit of the account is refused', async () => {
    const { batches } = await open({ limits: { perAccount: 1 } });
    await createBatch(batches, REQUEST);
    await expect(createBatch(batches, REQUEST)).rejects.toMatchObject({ reason: 'too_many_batches' });
    expect((await createBatch(batches, { ...REQUEST, accountId: 'other' })).replayed).toBe(false);
  });

  test.each<[string, Readonly<Record<string, string>>, string]>([
    ['a bound that is no amount', { max_amount: '-1' }, 'metadata.max_amount'],
    ['a bound with ten decimals', { max_amount: '0.0000000001' }, 'metadata.max_amount'],
    ['a long name', { ['a'.repeat(65)]: '' }, 'metadata'],
    ['a long value', { a: 'a'.repeat(513) }, 'metadata'],
    ['many members', Object.fromEntries(Array.from({ length: 17 }, (_none, index) => [String(index), ''])), 'metadata'],
  ])('with %s is refused', async (_what, metadata, field) => {
    const { batches } = await open();
    await expect(createBatch(batches, { ...REQUEST, metadata })).rejects.toMatchObject({ kind: 'invalid', field });
  });

  test('is found and listed by its account alone', async () => {
    const { batches } = await open();
    const { batch } = await createBatch(batches, REQUEST);
    for (const call of [getBatch, cancelBatch])
      await expect(call(batches, 'other', batch.id)).rejects.toMatchObject({ reason: 'batch_not_found' });
    await expect(listBatches(batches, 'other', { limit: 1, after: batch.id })).rejects.toMatchObject({
      field: 'after',
    });
    expect(await listBatches(batches, 'acme', { limit: 1, after: undefined })).toEqual({
      batches: [batch],
      hasMore: false,
    });
  });
});
