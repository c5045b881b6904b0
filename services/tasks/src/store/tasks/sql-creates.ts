import { Overtaken } from '@reelgate/platform/service-unavailable';
import type { Sql, SqlQuery, SqlValue } from '@reelgate/platform/sql/sql';
import { runStatements } from '@reelgate/platform/sql/transaction';
import { channelScope } from '../../domain/in-flight-scope.ts';
import type { Mapping } from '../../domain/task.ts';
import { TASK_COLUMNS, fromTaskRow, searchable } from './task-rows.ts';
import type { Permit } from './counter-shards.ts';
import { awaitBeginResult, takeKey } from './sql-admission.ts';
import { COUNTED_COLUMNS, toCountedValues, buildListAppend, leaveCounters, leaveSome } from './sql-in-flight.ts';
import type { CountedRow } from './sql-in-flight.ts';
import type { WithPermits } from './sql-permits.ts';
import type { WriteNote } from './sql-notes.ts';
import type { CreateStore, NewTask } from '../task-store.ts';

/** The owner of a create that was taken from its process. */
const DISOWNED = 'nobody';

const INSERT_TASK = `INSERT INTO tasks (id, account_id, token_id, kind, model, order_json, admission, owner, state,
    seconds, created_at, updated_at, request_id, trace, trace_parent, channel, webhook_url, ${COUNTED_COLUMNS})
  VALUES ($1, $2, $3, $4, $5, $6, 'submitting', $7, 'queued', $8, $9, $9, $10, $11, $12, $13, $14, $15, $16)`;
/** The last attempt that started has set the channel, unless another release started it. */
const ACCEPT_ON_CHANNEL = acceptWith('', 'AND channel = $1');
const ACCEPT_ON_OTHER_CHANNEL = acceptWith('channel = $1,', '');
const END_ATTEMPT = `UPDATE attempts SET outcome = 'accepted', upstream_id = $2, ended_at = $3
  WHERE task_id = $4 AND number = $5`;
const END_ATTEMPT_IF_ACCEPTED = `${END_ATTEMPT}
    AND EXISTS (SELECT 1 FROM tasks WHERE id = $4 AND upstream_account = $1 AND upstream_id = $2)`;
const END_ATTEMPT_UNLESS_KNOWN = `${END_ATTEMPT}
    AND NOT EXISTS (SELECT 1 FROM tasks AS other
      WHERE other.upstream_account = $1 AND other.upstream_id = $2 AND other.id <> $4)`;

export function sqlCreates(sql: Sql, note: WriteNote, withPermits: WithPermits): CreateStore {
  return {
    ...sqlBegins(sql, note, withPermits),
    ...sqlTakeovers(sql, note),
    ...sqlAttemptStarts(withPermits),
    ...sqlAttemptEnds(sql, note),
  };
}

function sqlBegins(
  sql: Sql,
  note: WriteNote,
  withPermits: WithPermits,
): Pick<CreateStore, 'findKey' | 'begin' | 'measure' | 'keepStaged' | 'refuse'> {
  return {
    findKey: async (accountId, key, now) => {
      const [row] = await sql.read<{ fingerprint: string; task_id: string }>(
        'SELECT fingerprint, task_id FROM idempotency_keys WHERE account_id = $1 AND key = $2 AND expires_at > $3',
        [accountId, searchable(key), now],
      );
      return row === undefined ? undefined : { fingerprint: row.fingerprint, taskId: row.task_id };
    },

    begin: ({ id, caps, ...task }, signal) =>
      awaitBeginResult(
        withPermits(
          { id, caps: [...caps, ...listChannelCaps(task.attempt)], signal, trace: task.trace },
          (query, permits) => insertTask(query, { id, ...task }, permits),
        ),
      ),

    refuse: (taskId, failure, at) =>
      sql.transaction(async (query) => {
        const [row] = await query<CountedRow>(
          `UPDATE tasks SET admission = 'refused', owner = NULL, state = 'failed', failure_json = $1,
           finished_at = $2, settle_at = $2, updated_at = $2, next_poll_at = NULL
         WHERE id = $3 AND admission = 'submitting' RETURNING ${COUNTED_COLUMNS}`,
          [JSON.stringify(failure), at, taskId],
        );
        if (row === undefined) return false;
        await query(
          `UPDATE attempts SET outcome = 'refused', error = 'not sent', ended_at = $1
           WHERE task_id = $2 AND outcome = 'started'`,
          [at, taskId],
        );
        await query('DELETE FROM idempotency_keys WHERE task_id = $1', [taskId]);
        await note(query, taskId, at, { type: 'refused', detail: { ...failure } });
        await leaveCounters(query, taskId, row);
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

/** The changes that the recovery makes to the creates of other processes. */
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

function sqlAttemptStarts(withPermits: WithPermits): Pick<CreateStore, 'startAttempt'> {
  return {
    startAttempt: async (taskId, attempt) => {
      const full = await withPermits({ id: taskId, caps: listChannelCaps(attempt) }, (query, permits) =>
        startAttempt(query, taskId, attempt, permits),
      );
      return full === undefined;
    },
  };
}

function sqlAttemptEnds(sql: Sql, note: WriteNote): Pick<CreateStore, 'accept' | 'refuseAttempt' | 'leaveUnknown'> {
  return {
    accept: async (taskId, attempt) => {
      const [task, ended] = acceptValues(taskId, attempt);
      const [accepted] = await sql.writeAll([
        [ACCEPT_ON_CHANNEL, task],
        [END_ATTEMPT_IF_ACCEPTED, ended],
      ]);
      if (accepted === 1) return 'accepted';
      return sql.transaction(async (query) => {
        const [changed] = await runStatements(query, [
          [ACCEPT_ON_OTHER_CHANNEL, task],
          [END_ATTEMPT_UNLESS_KNOWN, ended],
        ]);
        if (changed === 1) return 'accepted';
        return (await isKnown(query, taskId, attempt.mapping)) ? 'id_known' : undefined;
      });
    },

    refuseAttempt: (taskId, { number, channel, error, at }) =>
      sql.transaction(async (query) => {
        const [row] = await query<CountedRow>(
          `UPDATE tasks SET in_flight_json = in_flight_json WHERE id = $1 RETURNING ${COUNTED_COLUMNS}`,
          [taskId],
        );
        await query(
          "UPDATE attempts SET outcome = 'refused', error = $1, ended_at = $2 WHERE task_id = $3 AND number = $4",
          [error, at, taskId, number],
        );
        if (row !== undefined) await leaveSome(query, taskId, row, [channelScope(channel)]);
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

/**
 * A task takes no work that another task has, and then its attempt stays as it is. SQLite writes each index whose
 * column is set, even to the value that it has, so a channel that the task has already is not set again.
 */
function acceptWith(set: string, condition: string): string {
  return `UPDATE tasks SET admission = 'accepted', owner = NULL, ${set} upstream_account = $2,
      upstream_id = $3, next_poll_at = $4,
      updated_at = CASE WHEN admission = 'submitting' THEN $5 ELSE updated_at END
    WHERE id = $6 AND admission IN ('submitting', 'unknown') AND upstream_id IS NULL ${condition}
      AND NOT EXISTS (SELECT 1 FROM tasks AS other
        WHERE other.upstream_account = $2 AND other.upstream_id = $3 AND other.id <> $6)`;
}

/** The values of the statements that accept a task, and of those that end its attempt. */
function acceptValues(
  taskId: string,
  { number, mapping, at, nextPollAt }: Parameters<CreateStore['accept']>[1],
): readonly [task: readonly SqlValue[], attempt: readonly SqlValue[]] {
  const { channel, upstreamAccount, upstreamId = null } = mapping;
  return [
    [channel, upstreamAccount, upstreamId, nextPollAt, at, taskId],
    [upstreamAccount, upstreamId, at, taskId, number],
  ];
}

/** Reports whether another task has the work. */
async function isKnown(
  query: SqlQuery,
  taskId: string,
  { upstreamAccount, upstreamId }: Required<Mapping>,
): Promise<boolean> {
  const others = await query('SELECT id FROM tasks WHERE upstream_account = $1 AND upstream_id = $2 AND id <> $3', [
    upstreamAccount,
    upstreamId ?? null,
    taskId,
  ]);
  return others.length > 0;
}

type NewAttempt = Parameters<CreateStore['startAttempt']>[1];

async function startAttempt(
  query: SqlQuery,
  taskId: string,
  { number, owner, channel, at }: NewAttempt,
  [permit]: readonly Permit[],
): Promise<void> {
  const shard = permit === undefined || permit.row === permit.scope ? null : JSON.stringify(permit.row);
  // The row is locked first: a process that takes the create over waits, and then sees the attempt.
  const [own] = await Promise.all([
    query(
      `UPDATE tasks SET in_flight_json = ${buildListAppend('in_flight_json', '$3')},
       shards_json = CASE WHEN CAST($4 AS TEXT) IS NULL THEN shards_json ELSE ${buildListAppend('shards_json', '$4')} END,
       channel = $5
     WHERE id = $1 AND admission = 'submitting' AND owner = $2 RETURNING id`,
      [taskId, owner, JSON.stringify(channelScope(channel)), shard, channel],
    ),
    insertStarted(query, taskId, { number, channel, at }),
  ]);
  if (own.length === 0) throw new Overtaken(`the create of ${taskId} was taken over`);
}

async function insertStarted(
  query: SqlQuery,
  taskId: string,
  { number, channel, at }: Pick<NewAttempt, 'number' | 'channel' | 'at'>,
): Promise<void> {
  await query(
    "INSERT INTO attempts (task_id, number, channel, outcome, started_at) VALUES ($1, $2, $3, 'started', $4)",
    [taskId, number, channel, at],
  );
}

/** The counter of the attempt's channel. */
function listChannelCaps(attempt: Pick<NewAttempt, 'channel' | 'inFlightMax'> | undefined): NewTask['caps'] {
  return attempt === undefined ? [] : [{ scope: channelScope(attempt.channel), limit: attempt.inFlightMax }];
}

/** The key comes first: a create whose key another one has waits for it before it locks anything else. */
async function insertTask(query: SqlQuery, task: Omit<NewTask, 'caps'>, permits: readonly Permit[]): Promise<void> {
  const { idempotency, attempt } = task;
  await Promise.all([
    idempotency && takeKey(query, task, idempotency),
    query(INSERT_TASK, [
      task.id,
      task.accountId,
      task.tokenId,
      task.order.kind,
      task.order.model,
      JSON.stringify(task.order),
      task.owner,
      task.seconds,
      task.createdAt,
      task.requestId ?? null,
      task.trace ?? null,
      task.traceParent ?? null,
      attempt?.channel ?? null,
      task.webhookUrl ?? null,
      ...toCountedValues(permits),
    ]),
    attempt && insertStarted(query, task.id, { number: 1, channel: attempt.channel, at: task.createdAt }),
  ]);
}
