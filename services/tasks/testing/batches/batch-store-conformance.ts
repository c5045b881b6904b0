import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Sql } from '@reelgate/platform/sql/sql';
import { nameLineKey } from '../../src/domain/batch.ts';
import type { JobCall } from '@reelgate/proto/tasks/v1/job';
import type { BatchLease, BatchStop, BatchStore, NewBatch, NewBatchLine } from '../../src/store/batch-store.ts';
import type { JobFinish, JobStore } from '../../src/store/job-store.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { AT, accepted, begun, unknown } from '../store/opened-store.ts';
import { aNewJob, anAnswer } from '../jobs/new-jobs.ts';
import { aBatchCall, aCallLine, aLine } from './batch-world.ts';

const DAY_MS = 24 * 3_600_000;
const UNTIL = AT + 20_000;
const ALL = 100;
const FAULT = { code: 'invalid_request', message: 'no' };
const STOP: BatchStop = { outcome: 'cancelled', fault: { code: 'batch_cancelled', message: 'cancelled' } };
const RUNS = 25;

function aBatch(id: string, changes: Partial<NewBatch> = {}): NewBatch {
  return {
    id,
    accountId: 'acme',
    tokenId: 'token_1',
    requestId: 'req_1',
    endpoint: '/v1/videos',
    inputFileId: 'file_1',
    metadata: { note: 'a' },
    outputExpiresAfterMs: undefined,
    maxNanos: undefined,
    createdAt: AT,
    expiresAt: AT + DAY_MS,
    label: undefined,
    ...changes,
  };
}

interface OpenedBatches {
  readonly batches: BatchStore;
  readonly tasks: TaskStore;
  readonly jobs: JobStore;
  readonly sql: Sql;
}

/** Batches, their lines and their counters. */
export function batchStoreConformance(open: () => Promise<OpenedBatches>): void {
  let batches: BatchStore;
  let tasks: TaskStore;
  let jobs: JobStore;
  let sql: Sql;
  beforeEach(async () => {
    ({ batches, tasks, jobs, sql } = await open());
    for (const table of ['batches', 'batch_lines', 'idempotency_keys', 'events'])
      await sql.write(`DELETE FROM ${table}`);
  });

  let leases = 0;
  const lease = async (phase: 'reading' | 'running' | 'writing', now = AT): Promise<BatchLease[]> => {
    const name = `lease_${(leases += 1)}`;
    const taken = await batches.leaseBatches({ phase, lease: name, now, until: now + 20_000, limit: ALL });
    return taken.map(({ id }) => ({ batchId: id, lease: name }));
  };
  const leaseOne = async (phase: 'reading' | 'running' | 'writing', now = AT): Promise<BatchLease> => {
    const [one] = await lease(phase, now);
    if (one === undefined) throw new Error(`no batch is ${phase}`);
    return one;
  };
  const LINES: readonly NewBatchLine[] = [
    aLine(1),
    aLine(2),
    { number: 3, customId: 'bad', body: { fault: FAULT } },
    aLine(4),
  ];
  /** A batch whose lines are read. */
  const readBatch = async (id: string, changes: Partial<NewBatch> = {}, lines = LINES): Promise<BatchLease> => {
    await batches.createBatch(aBatch(id, changes), ALL);
    const reading = await leaseOne('reading');
    await batches.appendLines(reading, lines, UNTIL);
    await batches.finishRead(reading, { model: 'Alpha-H3', faults: [], at: AT });
    return leaseOne('running');
  };
  const counts = async (id: string): Promise<readonly (number | undefined)[]> => {
    const batch = await batches.findBatch(id);
    return [batch?.total, batch?.completed, batch?.failed];
  };
  const statesOf = async (id: string): Promise<string[]> =>
    (await sql.read('SELECT state FROM batch_lines WHERE batch_id = $1 ORDER BY number', [id])).map((row) =>
      String(row['state']),
    );
  const startAll = async (held: BatchLease, nanos = 0n): Promise<readonly number[]> => {
    const open = await batches.listOpenLines(held.batchId, ALL, ALL);
    return batches.startLines(
      held,
      open.map(({ number }) => ({ number, nanos })),
      UNTIL,
    );
  };
  const eventTypes = async (): Promise<string[]> =>
    (await sql.read("SELECT type FROM events WHERE type LIKE 'batch.%' ORDER BY created_at, id")).map((row) =>
      String(row['type']),
    );

  describe('a batch', () => {
    test('is found and listed for its account as it was written', async () => {
      await batches.createBatch(
        aBatch('batch_1', { maxNanos: 12_345_678_901_234n, outputExpiresAfterMs: 3_600_000 }),
        ALL,
      );
      await batches.createBatch(aBatch('batch_2'), ALL);
      await batches.createBatch(aBatch('batch_3', { accountId: 'other' }), ALL);

      expect(await batches.findBatch('batch_1')).toMatchObject({
        maxNanos: 12_345_678_901_234n,
        metadata: { note: 'a' },
        phase: 'reading',
        total: 0,
      });
      const ids = async (page: Parameters<BatchStore['listBatches']>[1]): Promise<string[]> =>
        (await batches.listBatches('acme', page)).map(({ id }) => id);
      expect(await ids({ limit: 5 })).toEqual(['batch_2', 'batch_1']);
      expect(await ids({ limit: 1, after: 'batch_2' })).toEqual(['batch_1']);
    });

    test('is created once for a key, and not beyond the limit of its account', async () => {
      const idempotency = { key: 'k', fingerprint: 'f', expiresAt: AT + DAY_MS };
      expect(await batches.createBatch(aBatch('batch_1', { idempotency }), 1)).toBe('created');
      expect(await batches.createBatch(aBatch('batch_2', { idempotency }), 5)).toBe('key_taken');
      expect(await batches.createBatch(aBatch('batch_3'), 1)).toBe('full');
      expect(await batches.findBatch('batch_3')).toBeUndefined();
    });

    test('is leased by one worker until its lease ends', async () => {
      await batches.createBatch(aBatch('batch_1'), ALL);
      const first = await leaseOne('reading');
      expect(await lease('reading')).toEqual([]);
      const second = await leaseOne('reading', UNTIL);

      expect(await batches.appendLines(first, LINES, UNTIL)).toBe(false);
      expect(await batches.finishRead(first, { model: '', faults: [], at: AT })).toBe(false);
      expect(await batches.returnBatch(first, AT)).toBe(false);
      expect(await batches.appendLines(second, LINES, UNTIL)).toBe(true);
      expect(await counts('batch_1')).toEqual([4, 0, 1]);
    });

    test('counts a line once, however often it is stored', async () => {
      await batches.createBatch(aBatch('batch_1'), ALL);
      const held = await leaseOne('reading');
      await batches.appendLines(held, LINES.slice(0, 3), UNTIL);
      await batches.appendLines(held, LINES, UNTIL);
      expect(await counts('batch_1')).toEqual([4, 0, 1]);
    });

    test('with a faulty file fails with its event, and keeps no more faults than are told', async () => {
      await batches.createBatch(aBatch('batch_1'), ALL);
      const faults = Array.from({ length: 30 }, (_none, index) => ({ ...FAULT, line: index + 1 }));
      await batches.finishRead(await leaseOne('reading'), { model: '', faults, at: AT + 1 });
      const failed = await batches.findBatch('batch_1');
      expect(failed).toMatchObject({ phase: 'ended', outcome: 'failed', endedAt: AT + 1, runningAt: undefined });
      expect(failed?.faults).toHaveLength(20);
      expect(await eventTypes()).toEqual(['batch.failed']);
      expect(await batches.cancelBatch('batch_1', AT)).toBe(false);
    });

    test('whose file is not read when it expires is closed', async () => {
      await batches.createBatch(aBatch('batch_1'), ALL);
      const reader = await leaseOne('reading');
      expect(await batches.endLateReads(AT)).toBe(0);
      expect(await batches.endLateReads(AT + DAY_MS)).toBe(1);
      expect(await batches.appendLines(reader, LINES, UNTIL)).toBe(false);
      expect(await batches.finishRun(await leaseOne('running', AT + DAY_MS), AT)).toBe(true);
    });

    test('loses its lines when it has ended, in steps, and counts to its account until then', async () => {
      const held = await readBatch('batch_1');
      await batches.closePending(held, STOP, ALL, UNTIL);
      await batches.finishRun(held, AT);
      expect(await batches.removeEndedLines(3)).toBe(0);
      await batches.finishBatch(await leaseOne('writing'), {}, AT);
      expect(await batches.createBatch(aBatch('batch_2'), 1)).toBe('full');
      for (const removed of [3, 1, 1, 0]) expect(await batches.removeEndedLines(3)).toBe(removed);
      expect(await sql.read('SELECT number FROM batch_lines')).toEqual([]);
      expect(await batches.findBatch('batch_1')).toMatchObject({ total: 4, failed: 4 });
      expect(await batches.createBatch(aBatch('batch_2'), 1)).toBe('created');
    });

    test('whose file is refused loses its lines too', async () => {
      await batches.createBatch(aBatch('batch_1'), ALL);
      const reader = await leaseOne('reading');
      await batches.appendLines(reader, LINES, UNTIL);
      const faults = [{ code: 'invalid_request', message: 'no' }];
      await batches.finishRead(reader, { model: '', faults, at: AT });
      while ((await batches.removeEndedLines(ALL)) > 0);

      expect(await sql.read('SELECT number FROM batch_lines')).toEqual([]);
      expect(await batches.findBatch('batch_1')).toMatchObject({ outcome: 'failed' });
    });

    test('passes on the private objects of the calls that never became jobs before it loses their lines', async () => {
      const call = (number: number, body: JobCall['body']): NewBatchLine => aCallLine(number, { body });
      const lines = [
        call(1, { case: 'object', value: 'prv_1' }),
        call(2, { case: 'inline', value: Buffer.from('{}') }),
        call(3, { case: 'object', value: 'prv_3' }),
        call(4, { case: 'object', value: 'prv_4' }),
        call(5, { case: 'object', value: 'prv_5' }),
      ];
      const held = await readBatch('batch_1', {}, lines);
      await batches.startLines(
        held,
        [
          { number: 1, nanos: 0n },
          { number: 3, nanos: 0n },
        ],
        UNTIL,
      );
      const started = [
        { number: 1, end: { taskId: 'job_1' } },
        { number: 3, end: { fault: FAULT } },
      ];
      await batches.recordStarts(held, started, UNTIL);
      await batches.closePending(held, STOP, ALL, UNTIL);
      await batches.endLines(held, ALL, UNTIL);
      await batches.finishRun(held, AT);
      await batches.finishBatch(await leaseOne('writing'), {}, AT);
      expect(await batches.countEnded('acme')).toBe(1);
      const away = async (): Promise<void> => {
        throw new Error('media is away');
      };
      await expect(batches.removeEndedLines(3, away)).rejects.toThrow('away');
      const removed: string[][] = [];
      while (
        (await batches.removeEndedLines(3, async (objects) => {
          removed.push([...objects]);
        })) > 0
      );

      expect(removed).toEqual([['prv_3'], ['prv_4', 'prv_5']]);
      expect(await sql.read('SELECT number FROM batch_lines')).toEqual([]);
    });

    test('is removed with its lines once it is old', async () => {
      const held = await readBatch('batch_1');
      await batches.closePending(held, STOP, ALL, UNTIL);
      await batches.finishRun(held, AT);
      expect(await batches.removeOldBatches({ before: AT + DAY_MS, limit: ALL })).toBe(0);
      await batches.finishBatch(await leaseOne('writing'), {}, AT);
      for (const removed of [3, 1, 1, 0])
        expect(await batches.removeOldBatches({ before: AT + 1, limit: 3 })).toBe(removed);
      expect(await batches.findBatch('batch_1')).toBeUndefined();
    });
  });

  describe('the lines of a batch', () => {
    test('begin in their order, as many as there is room for, and those that began first', async () => {
      const held = await readBatch('batch_1');
      const numbers = async (room: number): Promise<number[]> =>
        (await batches.listOpenLines('batch_1', room, ALL)).map(({ number }) => number);
      expect(await numbers(2)).toEqual([1, 2]);
      await batches.startLines(held, [{ number: 4, nanos: 0n }], UNTIL);
      expect(await numbers(2)).toEqual([4, 1]);
      await batches.recordStarts(held, [{ number: 4, end: { taskId: 'task_4' } }], UNTIL);
      expect([await numbers(2), await numbers(1)]).toEqual([[1], []]);
    });

    test('end as their tasks do', async () => {
      const held = await readBatch('batch_1');
      await startAll(held);
      await accepted(tasks, 'task_1');
      await begun(tasks, 'task_2');
      await batches.recordStarts(
        held,
        [
          { number: 1, end: { taskId: 'task_1' } },
          { number: 2, end: { taskId: 'task_2' } },
          { number: 4, end: { taskId: 'task_of_nobody' } },
        ],
        UNTIL,
      );
      // one whose task was removed has ended too
      expect(await batches.endLines(held, ALL, UNTIL)).toBe(1);
      await tasks.finish('task_1', { state: 'completed', at: AT });
      await tasks.refuse('task_2', FAULT, AT);
      expect(await batches.endLines(held, ALL, UNTIL)).toBe(2);
      expect(await statesOf('batch_1')).toEqual(['completed', 'refused', 'refused', 'failed']);
      expect(await counts('batch_1')).toEqual([4, 1, 3]);

      expect(await batches.finishRun(held, AT)).toBe(true);
      const writer = await leaseOne('writing');
      const page = { after: 0, limit: ALL, until: UNTIL };
      const output = await batches.listEndedLines(writer, { ...page, withTask: true });
      expect(output?.map(({ number, task, fault }) => [number, task?.id, fault])).toEqual([
        [1, 'task_1', undefined],
        [4, undefined, undefined],
      ]);
      const errors = await batches.listEndedLines(writer, { ...page, after: 2, withTask: false });
      expect(errors).toMatchObject([{ number: 3, customId: 'bad', fault: FAULT }]);
      expect(await batches.listEndedLines(held, { ...page, withTask: true })).toBeUndefined();
      expect(await batches.finishBatch(writer, { outputFileId: 'file_2' }, AT)).toBe(true);
      expect(await batches.finishBatch(writer, {}, AT)).toBe(false);
      expect(await batches.findBatch('batch_1')).toMatchObject({ outcome: 'completed', outputFileId: 'file_2' });
      expect(await eventTypes()).toEqual(['batch.completed']);
    });

    test('that make calls end as their jobs do, and one that failed has its answer in the file of errors', async () => {
      const held = await readBatch('batch_1', {}, [aCallLine(1), aCallLine(2), aCallLine(3)]);
      expect((await batches.listOpenLines('batch_1', ALL, ALL)).map(({ work }) => work)).toEqual(
        Array.from({ length: 3 }, () => aBatchCall()),
      );
      await startAll(held);
      const ids = ['job_1', 'job_2', 'job_3'];
      for (const id of ids) await jobs.beginJob(aNewJob(id));
      await batches.recordStarts(
        held,
        ids.map((taskId, index) => ({ number: index + 1, end: { taskId } })),
        UNTIL,
      );
      expect(await batches.endLines(held, ALL, UNTIL)).toBe(0);
      await jobs.leaseJobs({ worker: 'w', lease: 'lease_of_jobs', now: AT, until: UNTIL, limit: ALL });
      const finish = (jobId: string, end: Omit<JobFinish, 'at'>): Promise<boolean> =>
        jobs.finishJob({ jobId, lease: 'lease_of_jobs' }, { ...end, at: AT });
      await finish('job_1', { state: 'completed', answer: anAnswer() });
      await finish('job_2', { state: 'failed', answer: anAnswer({ statusCode: 400 }), failure: FAULT });
      await finish('job_3', { state: 'failed', failure: FAULT });
      expect(await batches.endLines(held, ALL, UNTIL)).toBe(3);
      expect([await statesOf('batch_1'), await counts('batch_1')]).toEqual([
        ['completed', 'failed', 'failed'],
        [3, 1, 2],
      ]);

      await batches.finishRun(held, AT);
      const writer = await leaseOne('writing');
      const list = async (withTask: boolean) =>
        (await batches.listEndedLines(writer, { after: 0, limit: ALL, until: UNTIL, withTask }))?.map(
          ({ number, task, job, fault }) => [number, task, job?.answer?.statusCode, fault],
        );
      expect([await list(true), await list(false)]).toEqual([
        [[1, undefined, 200, undefined]],
        [
          [2, undefined, 400, FAULT],
          [3, undefined, undefined, FAULT],
        ],
      ]);
    });

    test('with an unknown outcome hold others up only by their number, and end when they are told to', async () => {
      const held = await readBatch('batch_1');
      await batches.startLines(held, [{ number: 1, nanos: 0n }], UNTIL);
      await unknown(tasks, 'task_1');
      await batches.recordStarts(held, [{ number: 1, end: { taskId: 'task_1' } }], UNTIL);
      const numbers = async (room: number): Promise<number[]> =>
        (await batches.listOpenLines('batch_1', room, ALL)).map(({ number }) => number);
      expect([await numbers(1), await numbers(2)]).toEqual([[2], [2, 4]]);
      await batches.startLines(held, [{ number: 2, nanos: 0n }], UNTIL);
      await unknown(tasks, 'task_2');
      await batches.recordStarts(held, [{ number: 2, end: { taskId: 'task_2' } }], UNTIL);
      expect(await numbers(1)).toEqual([]);

      expect(await batches.endUnknown(held, FAULT, ALL, UNTIL)).toBe(2);
      await batches.closePending(held, STOP, ALL, UNTIL);
      await batches.finishRun(held, AT);
      const page = { after: 0, limit: ALL, until: UNTIL };
      const writer = await leaseOne('writing');
      expect(await batches.listEndedLines(writer, { ...page, withTask: true })).toEqual([]);
      const errors = await batches.listEndedLines(writer, { ...page, withTask: false });
      expect(errors?.map(({ number, task, fault }) => [number, task, fault?.code])).toEqual([
        [1, undefined, FAULT.code],
        [2, undefined, FAULT.code],
        [3, undefined, FAULT.code],
        [4, undefined, STOP.fault.code],
      ]);
    });

    test('above the bound of the batch end, and one that costs nothing in the end leaves its part', async () => {
      const held = await readBatch('batch_1', { maxNanos: 20n });
      expect(await startAll(held, 11n)).toEqual([1]);
      expect(await statesOf('batch_1')).toEqual(['starting', 'refused', 'refused', 'refused']);
      await batches.recordStarts(held, [{ number: 1, end: { fault: FAULT } }], UNTIL);
      const [row] = await sql.read("SELECT reserved_nanos FROM batches WHERE id = 'batch_1'");
      expect([Number(row?.['reserved_nanos']), await counts('batch_1')]).toEqual([0, [4, 0, 4]]);
    });

    test('that may have begun are decided by their keys, and no create of a closed one begins later', async () => {
      const held = await readBatch('batch_1');
      await startAll(held);
      const key = (number: number) => ({
        key: nameLineKey('batch_1', number),
        fingerprint: 'f',
        expiresAt: AT + DAY_MS,
      });
      await begun(tasks, 'task_1', { idempotency: key(1) });
      await batches.cancelBatch('batch_1', AT);

      expect(await batches.closeStarting(held, STOP, { now: AT, until: UNTIL })).toBe(3);
      expect(await statesOf('batch_1')).toEqual(['running', 'refused', 'refused', 'refused']);
      expect((await tasks.findKey('acme', key(2).key, AT))?.taskId).toBe('batch_1');
      expect(await batches.findBatch('batch_1')).toMatchObject({ outcome: 'cancelled', failed: 3 });
      expect(await batches.listQueuedTasks('batch_1', ALL)).toEqual(['task_1']);
      expect(await batches.finishRun(held, AT)).toBe(false);
    });
  });

  test('the counters say what the lines say, whatever calls come in whichever order', async () => {
    const call = fc.constantFrom(
      'start',
      'attach',
      'refuse',
      'complete',
      'end',
      'closePending',
      'closeStarting',
      'lose',
    );
    let made = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(call, fc.integer({ min: 1, max: 6 })), { maxLength: 25 }), async (calls) => {
        const id = `batch_drawn_${(made += 1)}`;
        let held = await readBatch(
          id,
          { maxNanos: 35n },
          [1, 2, 3, 4, 5, 6].map((number) => aLine(number)),
        );
        let now = AT;
        const attached = new Set<string>();
        const acts: Readonly<Record<string, (number: number) => Promise<unknown>>> = {
          start: (number) => batches.startLines(held, [{ number, nanos: 10n }], now + 20_000),
          attach: async (number) => {
            const taskId = `task_${id}_${number}`;
            if (!attached.has(taskId)) await accepted(tasks, taskId, { caps: [] });
            attached.add(taskId);
            await batches.recordStarts(held, [{ number, end: { taskId } }], now + 20_000);
          },
          refuse: (number) => batches.recordStarts(held, [{ number, end: { fault: FAULT } }], now + 20_000),
          complete: (number) => tasks.finish(`task_${id}_${number}`, { state: 'completed', at: now }),
          end: (number) => batches.endLines(held, number, now + 20_000),
          closePending: (number) => batches.closePending(held, STOP, number, now + 20_000),
          closeStarting: () => batches.closeStarting(held, STOP, { now, until: now + 20_000 }),
          lose: async () => {
            const before = held;
            now += 20_001;
            held = await leaseOne('running', now);
            expect(await batches.recordStarts(before, [{ number: 1, end: { fault: FAULT } }], now)).toBe(false);
          },
        };
        for (const [name, number] of calls) await acts[name]?.(number);
        const states = await statesOf(id);
        const inState = (...names: readonly string[]): number => states.filter((state) => names.includes(state)).length;
        expect(await counts(id)).toEqual([6, inState('completed'), inState('failed', 'refused')]);
        const [row] = await sql.read('SELECT reserved_nanos FROM batches WHERE id = $1', [id]);
        expect(Number(row?.['reserved_nanos'])).toBe(10 * inState('starting', 'running', 'completed'));
        expect(Number(row?.['reserved_nanos'])).toBeLessThanOrEqual(35);
        await sql.write('UPDATE batches SET due_at = NULL WHERE id = $1', [id]);
      }),
      { numRuns: RUNS },
    );
  });
}
