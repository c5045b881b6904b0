import { inChunks, parameters } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlQuery, SqlRow, SqlWork } from '@reelgate/platform/sql/sql';
import { LINE_KEY_MS, nameLineKey } from '../../domain/batch.ts';
import type { BatchFault } from '../../domain/batch.ts';
import type { Order } from '../../domain/order.ts';
import type { Failure } from '../../domain/task.ts';
import type {
  BatchCloseStore,
  BatchEndStore,
  BatchRunStore,
  BatchStartStore,
  LineWork,
  OpenLine,
  OrderWork,
  StartedLine,
} from '../batch-store.ts';
import { inOptionalJson, optionalText, selectTexts, text } from '../columns.ts';
import { tryTakeKeys } from '../tasks/sql-admission.ts';
import { CALL, OPEN, countLines, holdLease, toNanos } from './batch-rows.ts';
import type { BatchCounts } from './batch-rows.ts';

const ABOVE_MAX: BatchFault = {
  code: 'price_above_max',
  message: 'the line would cost more than max_amount of the batch leaves',
};

/**
 * Each write can be repeated, so no write waits for the disk. Its consequences, such as the create of a line, are
 * written later, and so a power cut never takes back the write alone.
 */
export function sqlBatchRuns(sql: Sql): BatchRunStore {
  return { ...sqlStarts(sql), ...sqlEnds(sql), ...sqlCloses(sql) };
}

function sqlStarts(sql: Sql): BatchStartStore {
  return {
    listOpenLines: async (batchId, inFlightMax, limit) => {
      const [row] = await sql.read(
        `SELECT COUNT(*) AS running, SUM(CASE WHEN tasks.admission = 'unknown' THEN 1 ELSE 0 END) AS unknown
         FROM batch_lines LEFT JOIN tasks ON tasks.id = batch_lines.task_id
         WHERE batch_lines.batch_id = $1 AND batch_lines.state = 'running' AND batch_lines.${OPEN}`,
        [batchId],
      );
      const [running, unknown] = [Number(row?.['running']), Number(row?.['unknown'])];
      // A task with an unknown outcome waits for a person. As many of them as may be in flight hold no other line up.
      const room = Math.min(limit, inFlightMax - Math.max(running - unknown, running - inFlightMax));
      if (room <= 0) return [];
      const list = (state: OpenLine['state'], most: number) => listOpen(sql.read, batchId, state, most);
      const starting = await list('starting', room);
      return starting.length < room ? [...starting, ...(await list('pending', room - starting.length))] : starting;
    },
    startLines: (lease, lines, until) =>
      sql.commitUnsynced(async (query) => {
        const row = await holdLease(query, lease, 'running', until);
        if (row === undefined) return [];
        const { fit, above } = fitLines(row, lines);
        const mark = async (number: number, nanos: bigint): Promise<boolean> =>
          (await query.changes(
            `UPDATE batch_lines SET state = 'starting', nanos = $1
             WHERE batch_id = $2 AND number = $3 AND state = 'pending' AND ${OPEN}`,
            [nanos, lease.batchId, number],
          )) > 0;
        const started: number[] = [];
        let nanos = 0n;
        for (const line of fit) {
          if (!(await mark(line.number, line.nanos))) continue;
          started.push(line.number);
          nanos += line.nanos;
        }
        let failed = 0;
        for (const { number } of above)
          failed += await refuseLine(query, { batchId: lease.batchId, number, from: 'pending', fault: ABOVE_MAX });
        await countLines(query, lease.batchId, { failed, nanos });
        return started;
      }),
    recordStarts: (lease, started, until) =>
      sql.commitUnsynced(async (query) => {
        if ((await holdLease(query, lease, 'running', until)) === undefined) return false;
        await countLines(query, lease.batchId, await recordEach(query, lease.batchId, started));
        return true;
      }),
    listQueuedTasks: (batchId, limit) =>
      selectTexts(
        sql.read,
        'task_id',
        `batch_lines JOIN tasks ON tasks.id = batch_lines.task_id
         WHERE batch_lines.batch_id = $1 AND batch_lines.state = 'running' AND batch_lines.${OPEN}
           AND tasks.state = 'queued' ORDER BY batch_lines.number LIMIT $2`,
        [batchId, limit],
      ),
  };
}

async function listOpen(
  query: SqlQuery,
  batchId: string,
  state: OpenLine['state'],
  limit: number,
): Promise<readonly OpenLine[]> {
  const rows = await query(
    `SELECT number, order_json, names_json, call_json, nanos FROM batch_lines
     WHERE batch_id = $1 AND state = $2 AND ${OPEN} ORDER BY number LIMIT $3`,
    [batchId, state, limit],
  );
  return rows.map((row) => ({
    number: Number(row['number']),
    state,
    work: readWork(row),
    nanos: toNanos(row['nanos']),
  }));
}

const ORDER = inOptionalJson<Order>('order_json');
const NAMES = inOptionalJson<NonNullable<OrderWork['names']>>('names_json');

function readWork(row: SqlRow): LineWork {
  const order = ORDER.read(row);
  const [names, call] = [NAMES.read(row), CALL.read(row)];
  if (order !== undefined) return { order, ...(names && { names }) };
  if (call !== undefined) return call;
  throw new Error('a line that has not begun has an order or a call');
}

interface PricedLine {
  readonly number: number;
  readonly nanos: bigint;
}

/** Divides lines into those that the bound of their batch still covers, in their order, and the others. */
function fitLines(
  row: SqlRow,
  lines: readonly PricedLine[],
): { readonly fit: PricedLine[]; readonly above: PricedLine[] } {
  if (row['max_nanos'] === null) return { fit: [...lines], above: [] };
  let left = toNanos(row['max_nanos']) - toNanos(row['reserved_nanos']);
  const [fit, above]: [PricedLine[], PricedLine[]] = [[], []];
  for (const line of lines) {
    if (line.nanos > left) above.push(line);
    else {
      fit.push(line);
      left -= line.nanos;
    }
  }
  return { fit, above };
}

async function recordEach(query: SqlWork, batchId: string, started: readonly StartedLine[]): Promise<BatchCounts> {
  let failed = 0;
  let nanos = 0n;
  for (const { number, end } of started) {
    if ('taskId' in end) await attachTask(query, batchId, number, end.taskId);
    else {
      const [row] = await query('SELECT nanos FROM batch_lines WHERE batch_id = $1 AND number = $2', [batchId, number]);
      if ((await refuseLine(query, { batchId, number, from: 'starting', fault: end.fault })) === 0) continue;
      failed += 1;
      nanos -= toNanos(row?.['nanos']);
    }
  }
  return { failed, nanos };
}

async function attachTask(query: SqlWork, batchId: string, number: number, taskId: string): Promise<void> {
  await query.changes(
    `UPDATE batch_lines SET state = 'running', task_id = $1, order_json = NULL, call_json = NULL
     WHERE batch_id = $2 AND number = $3 AND state = 'starting' AND ${OPEN}`,
    [taskId, batchId, number],
  );
}

interface LineRefusal {
  readonly batchId: string;
  readonly number: number;
  /** The state that the line must have. */
  readonly from: 'pending' | 'starting' | 'running';
  readonly fault: BatchFault;
}

/** Returns the number of lines that changed. */
function refuseLine(query: SqlWork, { batchId, number, from, fault }: LineRefusal): Promise<number> {
  return query.changes(
    `UPDATE batch_lines SET state = 'refused', task_id = NULL, order_json = NULL, nanos = 0, fault_json = $1
     WHERE batch_id = $2 AND number = $3 AND state = $4 AND ${OPEN}`,
    [JSON.stringify(fault), batchId, number, from],
  );
}

const FAILURE = inOptionalJson<Failure>('failure_json');
const NO_FAILURE: Failure = { code: 'internal_error', message: 'the task could not be created' };

function sqlEnds(sql: Sql): BatchEndStore {
  return {
    endLines: async (lease, limit, until) => {
      const values = [lease.batchId, limit];
      const select = `SELECT batch_lines.number, batch_lines.nanos, tasks.admission, jobs.id AS job_id,
          COALESCE(tasks.state, jobs.state) AS state, COALESCE(tasks.failure_json, jobs.failure_json) AS failure_json
        FROM batch_lines LEFT JOIN tasks ON tasks.id = batch_lines.task_id LEFT JOIN jobs ON jobs.id = batch_lines.task_id
        WHERE batch_lines.batch_id = $1 AND batch_lines.state = 'running' AND batch_lines.${OPEN}
          AND (COALESCE(tasks.id, jobs.id) IS NULL OR COALESCE(tasks.finished_at, jobs.finished_at) IS NOT NULL)
        ORDER BY batch_lines.number LIMIT $2`;
      if ((await sql.read(select, [lease.batchId, 1])).length === 0) return 0;
      return sql.commitUnsynced(async (query) => {
        if ((await holdLease(query, lease, 'running', until)) === undefined) return 0;
        const rows = await query(select, values);
        await countLines(query, lease.batchId, await endEach(query, lease.batchId, rows));
        return rows.length;
      });
    },
    endUnknown: (lease, fault, limit, until) =>
      sql.commitUnsynced(async (query) => {
        if ((await holdLease(query, lease, 'running', until)) === undefined) return 0;
        const failed = await query.changes(
          `UPDATE batch_lines SET state = 'failed', fault_json = $1
           WHERE batch_id = $2 AND state = 'running' AND ${OPEN} AND number IN (
             SELECT batch_lines.number FROM batch_lines JOIN tasks ON tasks.id = batch_lines.task_id
             WHERE batch_lines.batch_id = $2 AND batch_lines.state = 'running' AND batch_lines.${OPEN}
               AND tasks.admission = 'unknown' ORDER BY batch_lines.number LIMIT $3
           )`,
          [JSON.stringify(fault), lease.batchId, limit],
        );
        await countLines(query, lease.batchId, { failed });
        return failed;
      }),
    finishRun: (lease, at) =>
      sql.commitUnsynced(async (query) => {
        const changed = await query.changes(
          `UPDATE batches SET phase = 'writing', writing_at = $1, due_at = $1, lease = NULL
           WHERE id = $2 AND lease = $3 AND phase = 'running' AND total = completed + failed`,
          [at, lease.batchId, lease.lease],
        );
        return changed > 0;
      }),
  };
}

async function endEach(query: SqlWork, batchId: string, rows: readonly SqlRow[]): Promise<BatchCounts> {
  const isRefused = (row: SqlRow): boolean => row['admission'] === 'refused';
  const isCompleted = (row: SqlRow): boolean => row['state'] === 'completed';
  const completed = rows.filter(isCompleted);
  const failed = rows.filter((row) => !isCompleted(row) && !isRefused(row));
  await moveLines(query, batchId, completed, 'completed');
  await moveLines(query, batchId, failed, 'failed');
  for (const row of failed.filter((one) => one['job_id'] !== null)) await writeCallFault(query, batchId, row);
  const refused = rows.filter(isRefused);
  for (const row of refused)
    await refuseLine(query, {
      batchId,
      number: Number(row['number']),
      from: 'running',
      fault: FAILURE.read(row) ?? NO_FAILURE,
    });
  const nanos = [...failed, ...refused].reduce((sum, row) => sum - toNanos(row['nanos']), 0n);
  return { completed: completed.length, failed: failed.length + refused.length, nanos };
}

/** The error file has a call that failed, with its answer. */
async function writeCallFault(query: SqlWork, batchId: string, row: SqlRow): Promise<void> {
  await query.changes('UPDATE batch_lines SET fault_json = $1 WHERE batch_id = $2 AND number = $3', [
    JSON.stringify(FAILURE.read(row) ?? NO_FAILURE),
    batchId,
    Number(row['number']),
  ]);
}

async function moveLines(
  query: SqlWork,
  batchId: string,
  rows: readonly SqlRow[],
  state: 'completed' | 'failed',
): Promise<void> {
  for (const chunk of inChunks(rows))
    await query.changes(
      `UPDATE batch_lines SET state = $1${state === 'failed' ? ', nanos = 0' : ''}
       WHERE batch_id = $2 AND state = 'running' AND ${OPEN} AND number IN (${parameters(chunk.length, 3)})`,
      [state, batchId, ...chunk.map((row) => Number(row['number']))],
    );
}

function sqlCloses(sql: Sql): BatchCloseStore {
  return {
    closePending: (lease, { outcome, fault }, limit, until) =>
      sql.commitUnsynced(async (query) => {
        if ((await holdLease(query, lease, 'running', until)) === undefined) return 0;
        const failed = await query.changes(
          `UPDATE batch_lines SET state = 'refused', order_json = NULL, fault_json = $1
           WHERE batch_id = $2 AND state = 'pending' AND ${OPEN} AND number IN (
             SELECT number FROM batch_lines WHERE batch_id = $2 AND state = 'pending' AND ${OPEN} ORDER BY number LIMIT $3
           )`,
          [JSON.stringify(fault), lease.batchId, limit],
        );
        await countLines(query, lease.batchId, { failed });
        if (failed > 0)
          await query('UPDATE batches SET outcome = COALESCE(outcome, $1) WHERE id = $2', [outcome, lease.batchId]);
        return failed;
      }),
    closeStarting: (lease, { outcome, fault }, { now, until }) =>
      sql.commitUnsynced(async (query) => {
        const row = await holdLease(query, lease, 'running', until);
        if (row === undefined) return 0;
        const accountId = text(row['account_id']);
        const starting = await query(
          `SELECT number, nanos FROM batch_lines WHERE batch_id = $1 AND state = 'starting' AND ${OPEN} ORDER BY number`,
          [lease.batchId],
        );
        let failed = 0;
        let nanos = 0n;
        for (const { number, nanos: held } of sortByKey(lease.batchId, starting)) {
          const taskId = await takeLineKey(query, { accountId, batchId: lease.batchId, number, now });
          if (taskId !== undefined) {
            await attachTask(query, lease.batchId, number, taskId);
            continue;
          }
          failed += await refuseLine(query, { batchId: lease.batchId, number, from: 'starting', fault });
          nanos -= held;
        }
        await countLines(query, lease.batchId, { failed, nanos });
        if (failed > 0)
          await query('UPDATE batches SET outcome = COALESCE(outcome, $1) WHERE id = $2', [outcome, lease.batchId]);
        return starting.length;
      }),
  };
}

/** Lines in the order of their keys, in which the creates of a moment lock them too. */
function sortByKey(
  batchId: string,
  rows: readonly SqlRow[],
): readonly { readonly number: number; readonly nanos: bigint }[] {
  return rows
    .map((row) => ({ number: Number(row['number']), nanos: toNanos(row['nanos']) }))
    .sort((one, other) => (nameLineKey(batchId, one.number) < nameLineKey(batchId, other.number) ? -1 : 1));
}

/** Takes the key of a line, so that no create of it begins any more. Returns the task of one that has begun. */
async function takeLineKey(
  query: SqlWork,
  line: { readonly accountId: string; readonly batchId: string; readonly number: number; readonly now: number },
): Promise<string | undefined> {
  const { accountId, batchId, number, now } = line;
  const key = nameLineKey(batchId, number);
  const owner = { id: batchId, accountId, createdAt: now };
  const idempotency = { key, fingerprint: 'closed', expiresAt: now + LINE_KEY_MS };
  if (await tryTakeKeys(query, [{ owner, idempotency }])) return undefined;
  const [row] = await query('SELECT task_id FROM idempotency_keys WHERE account_id = $1 AND key = $2', [
    accountId,
    key,
  ]);
  return optionalText(row?.['task_id']);
}
