import type { Sql, SqlQuery } from '@reelgate/platform/sql/sql';
import { whileAwaited } from '@reelgate/platform/sql/while-awaited';
import { channelScope } from '../../domain/in-flight-scope.ts';
import { TASK_COLUMNS, fromTaskRow } from './task-rows.ts';
import { RolledBack, takeCaps, takeKey } from './sql-admission.ts';
import { joined, leaveCounter, leaveCounters } from './sql-in-flight.ts';
import type { WriteNote } from './sql-notes.ts';
import type { Begun, CreateStore, NewTask } from '../task-store.ts';

/** The owner of a create that was taken from its process. */
const DISOWNED = 'nobody';

export function sqlCreates(sql: Sql, note: WriteNote): CreateStore {
  return { ...sqlBegins(sql, note), ...sqlTakeovers(sql, note), ...sqlAttempts(sql, note) };
}

function sqlBegins(
  sql: Sql,
  note: WriteNote,
): Pick<CreateStore, 'findKey' | 'begin' | 'measure' | 'keepStaged' | 'refuse'> {
  return {
    findKey: async (accountId, key, now) => {
      const [row] = await sql.read<{ fingerprint: string; task_id: string }>(
        'SELECT fingerprint, task_id FROM idempotency_keys WHERE account_id = $1 AND key = $2 AND expires_at > $3',
        [accountId, key, now],
      );
      return row === undefined ? undefined : { fingerprint: row.fingerprint, taskId: row.task_id };
    },

    begin: async (task, signal) => {
      try {
        return await sql.transaction((query) => whileAwaited(signal, () => begin(query, task)));
      } catch (error) {
        if (error instanceof RolledBack) return error.outcome;
        throw error;
      }
    },

    refuse: (taskId, failure, at) =>
      sql.transaction(async (query) => {
        const rows = await query(
          `UPDATE tasks SET admission = 'refused', owner = NULL, state = 'failed', failure_json = $1,
           finished_at = $2, settle_at = $2, updated_at = $2, next_poll_at = NULL
         WHERE id = $3 AND admission = 'submitting' RETURNING id`,
          [JSON.stringify(failure), at, taskId],
        );
        if (rows.length === 0) return false;
        await leaveCounters(query, taskId);
        await query('DELETE FROM idempotency_keys WHERE task_id = $1', [taskId]);
        await note(query, taskId, at, { type: 'refused', detail: { ...failure } });
        return true;
      }),

    measure: async (taskId, seconds) => {
      await sql.write('UPDATE tasks SET seconds = $1 WHERE id = $2', [seconds, taskId]);
    },
    keepStaged: async (taskId, staged) => {
      await sql.write('UPDATE tasks SET staged_json = $1 WHERE id = $2', [JSON.stringify(staged), taskId]);
    },
  };
}

/** What the recovery does to the creates of others. */
function sqlTakeovers(sql: Sql, note: WriteNote): Pick<CreateStore, 'disown' | 'adopt'> {
  return {
    disown: async (taskId) =>
      (
        await sql.write("UPDATE tasks SET owner = $1 WHERE id = $2 AND admission = 'submitting' RETURNING id", [
          DISOWNED,
          taskId,
        ])
      ).length > 0,

    adopt: async (taskId, upstreamId, at) => {
      const rows = await sql.transaction(async (query) => {
        const adopted = await query(
          `UPDATE tasks SET admission = 'accepted', upstream_id = $1, next_poll_at = $2
           WHERE id = $3 AND admission = 'unknown' AND NOT EXISTS (
             SELECT 1 FROM tasks AS other
             WHERE other.upstream_account = tasks.upstream_account AND other.upstream_id = $1
           ) RETURNING id`,
          [upstreamId, at, taskId],
        );
        if (adopted.length > 0) await note(query, taskId, at, { type: 'adopted', detail: { upstreamId } });
        return adopted;
      });
      return rows.length > 0;
    },
  };
}

/** The rows of the attempts. */
function sqlAttempts(
  sql: Sql,
  note: WriteNote,
): Pick<CreateStore, 'startAttempt' | 'accept' | 'refuseAttempt' | 'leaveUnknown'> {
  return {
    startAttempt: async (taskId, attempt) => {
      try {
        await sql.transaction((query) => startAttempt(query, taskId, attempt));
        return true;
      } catch (error) {
        if (error instanceof RolledBack) return false;
        throw error;
      }
    },

    accept: (taskId, { number, mapping, at, nextPollAt }) =>
      sql.transaction(async (query) => {
        const others = await query(
          'SELECT id FROM tasks WHERE upstream_account = $1 AND upstream_id = $2 AND id <> $3',
          [mapping.upstreamAccount, mapping.upstreamId ?? null, taskId],
        );
        if (others.length > 0) return 'id_known';
        await query(
          `UPDATE attempts SET outcome = 'accepted', upstream_id = $1, ended_at = $2
           WHERE task_id = $3 AND number = $4`,
          [mapping.upstreamId ?? null, at, taskId, number],
        );
        const [row] = await query(
          `UPDATE tasks SET admission = 'accepted', owner = NULL, channel = $1, upstream_account = $2,
           upstream_id = $3, next_poll_at = $4,
           updated_at = CASE WHEN admission = 'submitting' THEN $5 ELSE updated_at END
         WHERE id = $6 AND admission IN ('submitting', 'unknown') AND upstream_id IS NULL RETURNING ${TASK_COLUMNS}`,
          [mapping.channel, mapping.upstreamAccount, mapping.upstreamId ?? null, nextPollAt, at, taskId],
        );
        return row === undefined ? undefined : fromTaskRow(row);
      }),

    refuseAttempt: (taskId, { number, channel, error, at }) =>
      sql.transaction(async (query) => {
        await query(
          "UPDATE attempts SET outcome = 'refused', error = $1, ended_at = $2 WHERE task_id = $3 AND number = $4",
          [error, at, taskId, number],
        );
        await leaveCounter(query, taskId, channelScope(channel));
      }),

    leaveUnknown: (taskId, { number, mapping, error, at }) =>
      sql.transaction(async (query) => {
        const [row] = await query(
          `UPDATE tasks SET admission = 'unknown', owner = NULL, channel = $1, upstream_account = $2, updated_at = $3
           WHERE id = $4 AND admission = 'submitting' RETURNING ${TASK_COLUMNS}`,
          [mapping.channel, mapping.upstreamAccount, at, taskId],
        );
        if (row === undefined) return undefined;
        await query(
          "UPDATE attempts SET outcome = 'unknown', error = $1, ended_at = $2 WHERE task_id = $3 AND number = $4",
          [error, at, taskId, number],
        );
        await note(query, taskId, at, { type: 'outcome_unknown', detail: { number, channel: mapping.channel, error } });
        return fromTaskRow(row);
      }),
  };
}

type NewAttempt = Parameters<CreateStore['startAttempt']>[1];

async function startAttempt(
  query: SqlQuery,
  taskId: string,
  { number, owner, channel, inFlightMax, at }: NewAttempt,
): Promise<void> {
  const scope = channelScope(channel);
  // The row is locked first: a process that takes the create over waits, and then sees the attempt.
  const own = await query(
    `UPDATE tasks SET in_flight_json = ${joined('$3')}
     WHERE id = $1 AND admission = 'submitting' AND owner = $2 RETURNING id`,
    [taskId, owner, JSON.stringify(scope)],
  );
  if (own.length === 0) throw new Error(`the create of ${taskId} was taken over`);
  await query(
    "INSERT INTO attempts (task_id, number, channel, outcome, started_at) VALUES ($1, $2, $3, 'started', $4)",
    [taskId, number, channel, at],
  );
  await takeCaps(query, [{ scope, limit: inFlightMax }]);
}

async function begin(query: SqlQuery, task: NewTask): Promise<Begun> {
  if (task.idempotency !== undefined) await takeKey(query, task, task.idempotency);
  await query(
    `INSERT INTO tasks (id, account_id, token_id, kind, model, order_json, admission, owner, state, seconds,
       created_at, updated_at, in_flight_json)
     VALUES ($1, $2, $3, $4, $5, $6, 'submitting', $7, 'queued', $8, $9, $9, $10)`,
    [
      task.id,
      task.accountId,
      task.tokenId,
      task.order.kind,
      task.order.model,
      JSON.stringify(task.order),
      task.owner,
      task.seconds,
      task.createdAt,
      JSON.stringify(task.caps.map(({ scope }) => scope)),
    ],
  );
  // The counters come last, because every create of the token waits at these rows until this one is committed.
  await takeCaps(query, task.caps);
  return 'begun';
}
