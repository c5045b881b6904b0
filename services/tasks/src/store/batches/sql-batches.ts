import type { NewId } from '@reelgate/platform/ids';
import { inChunks, parameters } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlQuery, SqlValue, SqlWork } from '@reelgate/platform/sql/sql';
import { BatchCallSchema } from '@reelgate/proto/tasks/v1/batch';
import { BATCH_FAULTS_MAX } from '../../domain/batch.ts';
import type { Batch, BatchFault, BatchOutcome, BatchPhase } from '../../domain/batch.ts';
import type {
  BatchCreateStore,
  BatchLeases,
  BatchReadStore,
  BatchRetentionStore,
  BatchStore,
  BatchTaking,
  BatchWriteStore,
  NewBatchLine,
  OpenBatchReader,
} from '../batch-store.ts';
import {
  countFrom,
  findByIds,
  inOptionalJson,
  insertMany,
  optionalText,
  searchable,
  selectNumber,
  text,
  toInsert,
  toMessageJson,
} from '../columns.ts';
import { JOB } from '../jobs/sql-jobs.ts';
import { awaitBeginResult, takeKeys } from '../tasks/sql-admission.ts';
import { TASK } from '../tasks/task-rows.ts';
import { sqlEventWrites } from '../webhooks/sql-events.ts';
import type { WriteEvent } from '../webhooks/sql-events.ts';
import { BATCH, BATCH_ORIGIN, CALL, countLines, holdLease } from './batch-rows.ts';
import { UNCHARGED, sqlBatchCharges } from './sql-batch-charges.ts';
import { sqlBatchRuns } from './sql-batch-runs.ts';
import { chooseTurns } from './sql-batch-turns.ts';

export function sqlBatches(sql: Sql, newId: NewId): BatchStore {
  const writeEvent = sqlEventWrites(newId);
  return {
    ...sqlBatchCreates(sql),
    ...sqlBatchLeases(sql),
    ...sqlBatchReads(sql, writeEvent),
    ...sqlBatchRuns(sql),
    ...sqlBatchCharges(sql),
    ...sqlBatchWrites(sql, writeEvent),
    ...sqlBatchRetention(sql),
    ...sqlOpenBatches(sql),
  };
}

/** Batches that begin at the same moment may pass the limit by their number. */
const COUNT_OPEN = `SELECT (SELECT COUNT(*) FROM batches WHERE account_id = $1 AND phase <> 'ended')
  + (SELECT COUNT(*) FROM batches WHERE account_id = $1 AND ended_at IS NOT NULL AND has_lines = 1) AS open`;

const ENDED_BATCHES = 'batches WHERE account_id = $1 AND ended_at IS NOT NULL';

function sqlBatchCreates(sql: Sql): BatchCreateStore {
  return {
    createBatch: async ({ idempotency, ...batch }, openMax) => {
      const begun = await awaitBeginResult(
        sql.transaction(async (query) => {
          if (idempotency !== undefined) await takeKeys(query, [{ owner: batch, idempotency }]);
          const [row] = await query(COUNT_OPEN, [batch.accountId]);
          if (Number(row?.['open']) >= openMax) return 'full';
          await query(
            ...toInsert('batches', { ...BATCH_ORIGIN.write(batch), phase: 'reading', due_at: batch.createdAt }),
          );
          return undefined;
        }),
      );
      if (begun === 'key_taken') return 'key_taken';
      return begun === 'begun' ? 'created' : 'full';
    },
    countEnded: (accountId) => countFrom(sql.read, ENDED_BATCHES, [searchable(accountId)]),
    findBatch: (batchId) => BATCH.selectFirstFrom(sql.read, 'batches WHERE id = $1', [searchable(batchId)]),
    listBatches: (accountId, { limit, after }) =>
      BATCH.selectFrom(sql.read, `batches WHERE account_id = $1 AND ($2 = '' OR id < $2) ORDER BY id DESC LIMIT $3`, [
        searchable(accountId),
        searchable(after ?? ''),
        limit,
      ]),
    cancelBatch: (batchId, at) =>
      sql.transaction(async (query) => {
        const cancelled = await query.changes(
          `UPDATE batches SET outcome = 'cancelled', cancelling_at = $1, phase = 'running', due_at = $1,
             running_at = COALESCE(running_at, $1)
           WHERE id = $2 AND outcome IS NULL AND phase IN ('reading', 'running')`,
          [at, batchId],
        );
        return cancelled > 0;
      }),
  };
}

function sqlBatchLeases(sql: Sql): BatchLeases {
  return {
    leaseBatches: async (taking) => {
      const [due] = await sql.read(
        'SELECT id FROM batches WHERE phase = $1 AND due_at IS NOT NULL AND due_at <= $2 ORDER BY due_at LIMIT 1',
        [taking.phase, taking.now],
      );
      return due === undefined
        ? []
        : sql.commitUnsynced(async (query) => takeBatches(query, taking, await chooseTurns(query, taking)));
    },
    findNextDue: (phase) =>
      selectNumber(sql.read, 'due_at', 'batches WHERE phase = $1 AND due_at IS NOT NULL ORDER BY due_at LIMIT 1', [
        phase,
      ]),
    endLeases: (now) =>
      sql.transaction((query) =>
        query.changes(
          'UPDATE batches SET due_at = $1, lease = NULL WHERE due_at IS NOT NULL AND due_at > $1 AND lease IS NOT NULL',
          [now],
        ),
      ),
    returnBatch: ({ batchId, lease }, dueAt) =>
      sql.commitUnsynced(
        async (query) =>
          (await query.changes(
            'UPDATE batches SET due_at = $1, lease = NULL WHERE id = $2 AND lease = $3 AND due_at IS NOT NULL',
            [dueAt, batchId, lease],
          )) > 0,
      ),
  };
}

/** Of workers that choose the same batch at the same moment one gets it. */
async function takeBatches(query: SqlQuery, taking: BatchTaking, ids: readonly string[]): Promise<Batch[]> {
  if (ids.length === 0) return [];
  const rows = await query(
    `UPDATE batches SET lease = $1, due_at = $2
     WHERE id IN (${parameters(ids.length, 5)}) AND phase = $3 AND due_at IS NOT NULL AND due_at <= $4
     RETURNING ${BATCH.list}`,
    [taking.lease, taking.until, taking.phase, taking.now, ...ids],
  );
  return rows.map(BATCH.read);
}

const INSERT_LINES = insertMany(
  'batch_lines',
  ['batch_id', 'number', 'custom_id', 'state', 'order_json', 'names_json', 'call_json', 'fault_json'],
  'ON CONFLICT DO NOTHING',
);

function sqlBatchReads(sql: Sql, writeEvent: WriteEvent): BatchReadStore {
  return {
    // The durable end of the reading covers the lines before it.
    appendLines: (lease, lines, until) =>
      sql.commitUnsynced(async (query) => {
        if ((await holdLease(query, lease, 'reading', until)) === undefined) return false;
        const isFault = ({ body }: NewBatchLine): boolean => 'fault' in body;
        const valid = await insertLines(
          query,
          lease.batchId,
          lines.filter((line) => !isFault(line)),
        );
        const failed = await insertLines(query, lease.batchId, lines.filter(isFault));
        await countLines(query, lease.batchId, { total: valid + failed, failed });
        return true;
      }),
    finishRead: (lease, { model, faults, at }) =>
      sql.transaction(async (query) => {
        if ((await holdLease(query, lease, 'reading', at)) === undefined) return false;
        await query(
          `UPDATE batches SET phase = 'running', model = $1, running_at = $2, due_at = $2, lease = NULL WHERE id = $3`,
          [model, at, lease.batchId],
        );
        if (faults.length > 0)
          await endBatch(query, writeEvent, {
            batchId: lease.batchId,
            outcome: 'failed',
            at,
            set: { faults_json: JSON.stringify(faults.slice(0, BATCH_FAULTS_MAX)), running_at: null },
          });
        return true;
      }),
    endLateReads: async (now) => {
      const late = `phase = 'reading' AND due_at IS NOT NULL AND expires_at <= $1`;
      if ((await sql.read(`SELECT id FROM batches WHERE ${late} LIMIT 1`, [now])).length === 0) return 0;
      return sql.transaction((query) =>
        query.changes(`UPDATE batches SET phase = 'running', due_at = $1, lease = NULL WHERE ${late}`, [now]),
      );
    },
  };
}

async function insertLines(query: SqlWork, batchId: string, lines: readonly NewBatchLine[]): Promise<number> {
  let inserted = 0;
  for (const chunk of inChunks(lines))
    inserted += await query.changes(
      ...INSERT_LINES(
        chunk.map(({ number, customId, body }) => ({
          batch_id: batchId,
          number,
          custom_id: customId,
          state: 'fault' in body ? 'refused' : 'pending',
          order_json: 'order' in body ? JSON.stringify(body.order) : null,
          names_json: 'order' in body && body.names !== undefined ? JSON.stringify(body.names) : null,
          call_json: 'repeatable' in body ? toMessageJson(BatchCallSchema, body) : null,
          fault_json: 'fault' in body ? JSON.stringify(body.fault) : null,
        })),
      ),
    );
  return inserted;
}

interface BatchEnd {
  readonly batchId: string;
  readonly outcome: BatchOutcome;
  readonly at: number;
  readonly set: Readonly<Record<string, string | number | null>>;
}

/** Ends a batch, with its event in the same transaction. */
async function endBatch(
  query: SqlQuery,
  writeEvent: WriteEvent,
  { batchId, outcome, at, set }: BatchEnd,
): Promise<void> {
  const more = Object.keys(set)
    .map((column, index) => `, ${column} = $${index + 4}`)
    .join('');
  const [row] = await query(
    `UPDATE batches SET phase = 'ended', outcome = $1, ended_at = $2, due_at = NULL, lease = NULL${more}
     WHERE id = $3 RETURNING account_id, request_id, created_at`,
    [outcome, at, batchId, ...Object.values(set)],
  );
  if (row === undefined) return;
  await writeEvent(query, {
    accountId: text(row['account_id']),
    type: `batch.${outcome}`,
    subjectId: batchId,
    createdAt: at,
    origin: { requestId: optionalText(row['request_id']), createdAt: Number(row['created_at']) },
  });
}

const FAULT = inOptionalJson<BatchFault>('fault_json');
const TASK_LIST = TASK.names.map((name) => `tasks.${name}`).join(', ');
const LINE_LIST = `batch_lines.number AS line_number, batch_lines.custom_id, batch_lines.fault_json,
  batch_lines.task_id AS work_id`;

const WITH_RESULT = 'batch_lines.task_id IS NOT NULL AND batch_lines.fault_json IS NULL';
const WITH_FAULT = 'batch_lines.fault_json IS NOT NULL';

/** The ended lines with a result, or those with a fault. */
const buildPage = (withTask: boolean): string => `FROM batch_lines
  LEFT JOIN tasks ON tasks.id = batch_lines.task_id AND tasks.deleted_at IS NULL
  LEFT JOIN jobs ON jobs.id = batch_lines.task_id
  WHERE batch_lines.batch_id = $1 AND batch_lines.number > $2
    AND ${withTask ? WITH_RESULT : WITH_FAULT}`;

/** The orders and answers of a page have about this many characters together at most, and a page at least one line. */
const PAGE_CHARACTERS = 1_000_000;

/** Returns the number of the last line of a page, so that long orders are never in memory by the hundred. */
async function findPageEnd(query: SqlQuery, page: string, values: readonly SqlValue[]): Promise<number> {
  const rows = await query(
    `SELECT batch_lines.number, LENGTH(COALESCE(tasks.order_json, jobs.answer_json)) AS characters ${page}
     ORDER BY batch_lines.number LIMIT $3`,
    values,
  );
  let characters = 0;
  let end = 0;
  for (const row of rows) {
    characters += Number(row['characters'] ?? 0);
    if (end > 0 && characters > PAGE_CHARACTERS) break;
    end = Number(row['number']);
  }
  return end;
}

const findJobs = findByIds(JOB, 'jobs');

function sqlBatchWrites(sql: Sql, writeEvent: WriteEvent): BatchWriteStore {
  return {
    listEndedLines: (lease, { after, limit, withTask, until }) =>
      sql.commitUnsynced(async (query) => {
        if ((await holdLease(query, lease, 'writing', until)) === undefined) return undefined;
        const page = buildPage(withTask);
        const end = await findPageEnd(query, page, [lease.batchId, after, limit]);
        const rows = await query(
          `SELECT ${LINE_LIST}, ${TASK_LIST} ${page} AND batch_lines.number <= $3 ORDER BY batch_lines.number`,
          [lease.batchId, after, end],
        );
        const withoutTask = rows.filter((row) => row['id'] === null);
        const jobs = await findJobs(
          query,
          withoutTask.flatMap((row) => optionalText(row['work_id']) ?? []),
        );
        return rows.map((row) => {
          const fault = FAULT.read(row);
          return {
            number: Number(row['line_number']),
            customId: text(row['custom_id']),
            // the outcome of such a task is not known yet
            task: row['id'] === null || fault !== undefined ? undefined : TASK.read(row),
            job: jobs.get(optionalText(row['work_id']) ?? ''),
            fault,
          };
        });
      }),
    finishBatch: (lease, { outputFileId, errorFileId }, at) =>
      sql.transaction(async (query) => {
        if ((await holdLease(query, lease, 'writing', at)) === undefined) return false;
        const [row] = await query('SELECT outcome FROM batches WHERE id = $1', [lease.batchId]);
        const outcome = (optionalText(row?.['outcome']) ?? 'completed') as BatchOutcome;
        const uncharged = await countFrom(query, `batch_lines WHERE batch_id = $1 AND ${UNCHARGED}`, [lease.batchId]);
        const set = { output_file_id: outputFileId ?? null, error_file_id: errorFileId ?? null, uncharged };
        await endBatch(query, writeEvent, { batchId: lease.batchId, outcome, at, set });
        return true;
      }),
  };
}

function sqlOpenBatches(sql: Sql): OpenBatchReader {
  return {
    countOpen: async () =>
      (
        await sql.read(
          `SELECT phase, COUNT(*) AS count, MIN(created_at) AS oldest_at, SUM(total - completed - failed) AS lines
           FROM batches WHERE phase <> 'ended' GROUP BY phase`,
        )
      ).map((row) => ({
        phase: text(row['phase']) as BatchPhase,
        count: Number(row['count']),
        oldestAt: Number(row['oldest_at']),
        openLines: Number(row['lines']),
      })),
  };
}

function sqlBatchRetention(sql: Sql): BatchRetentionStore {
  return {
    removeEndedLines: async (limit, removeObjects = async () => undefined) => {
      const [ended] = await sql.read(
        `SELECT id FROM batches WHERE account_id > '' AND ended_at IS NOT NULL AND has_lines = 1
         ORDER BY account_id, ended_at LIMIT 1`,
      );
      if (ended === undefined) return 0;
      const batchId = text(ended['id']);
      const page = await sql.read('SELECT number FROM batch_lines WHERE batch_id = $1 ORDER BY number LIMIT $2', [
        batchId,
        limit,
      ]);
      const last = Number(page.at(-1)?.['number'] ?? 0);
      const objects = await listLeftObjects(sql.read, batchId, last);
      // objects are removed before the lines that name them, so that no object is left behind
      if (objects.length > 0) await removeObjects(objects);
      return sql.commitUnsynced(
        async (query) =>
          (await query.changes('DELETE FROM batch_lines WHERE batch_id = $1 AND number <= $2', [batchId, last])) ||
          query.changes('UPDATE batches SET has_lines = 0 WHERE id = $1 AND has_lines = 1', [batchId]),
      );
    },
    removeOldBatches: ({ before, limit }) =>
      sql.transaction(async (query) => {
        const [old] = await query(
          `SELECT id FROM batches WHERE ended_at IS NOT NULL AND ended_at < $1 ORDER BY ended_at LIMIT 1`,
          [before],
        );
        if (old === undefined) return 0;
        const batchId = text(old['id']);
        const lines = await removeLines(query, batchId, limit);
        if (lines > 0) return lines;
        return query.changes('DELETE FROM batches WHERE id = $1', [batchId]);
      }),
  };
}

/** The private objects of the lines up to a number that have no job. A job removes its own. */
async function listLeftObjects(query: SqlQuery, batchId: string, last: number): Promise<readonly string[]> {
  const rows = await query(
    `SELECT call_json FROM batch_lines
     WHERE batch_id = $1 AND number <= $2 AND task_id IS NULL AND call_json LIKE '%"object":%'`,
    [batchId, last],
  );
  return rows.flatMap((row) => {
    const body = CALL.read(row)?.call?.body;
    return body?.case === 'object' ? [body.value] : [];
  });
}

function removeLines(query: SqlWork, batchId: string, limit: number): Promise<number> {
  return query.changes(
    `DELETE FROM batch_lines WHERE batch_id = $1 AND number IN (
       SELECT number FROM batch_lines WHERE batch_id = $1 ORDER BY number LIMIT $2
     )`,
    [batchId, limit],
  );
}
