import { newMomentBatcher } from '@reelgate/platform/batcher';
import { Overtaken } from '@reelgate/platform/service-unavailable';
import type { Sql, SqlQuery } from '@reelgate/platform/sql/sql';
import { runStatements } from '@reelgate/platform/sql/transaction';
import { channelAccountScope, channelScope } from '../../domain/in-flight-scope.ts';
import { removeWritten } from '../../domain/task.ts';
import type { Mapping } from '../../domain/task.ts';
import { buildStatement } from '@reelgate/platform/sql/named-values';
import type { NamedValues } from '@reelgate/platform/sql/named-values';
import { recordColumns, searchable, toJson } from '../columns.ts';
import { forgetWords } from '../prompts/sql-prompts.ts';
import { CONTENT_FIELDS, TASK } from './task-rows.ts';
import type { Permit } from './counter-shards.ts';
import { BATCH, insertStarted, isAway, listChannelCaps, newBeginBatcher } from './sql-begins.ts';
import { COUNTED_COLUMNS, buildListAppend, leaveCounters, leaveSome } from './sql-in-flight.ts';
import type { CountedRow } from './sql-in-flight.ts';
import type { Permits, WithPermits, WithPermitsOfAll } from './sql-permits.ts';
import type { WriteNote } from './sql-history.ts';
import { DISOWNED } from '../task-store.ts';
import type { AttemptStore, BeginStore, CreateStore, StartedAttempt, TakeoverStore } from '../task-store.ts';

const { accountId, order } = CONTENT_FIELDS;
const WRITTEN = recordColumns({ accountId, order });
/** The last attempt that started has set the channel, unless another release started it. */
const ACCEPT_ON_CHANNEL = buildStatement<AcceptName>((of) => buildAccept(of, '', `AND channel = ${of('channel')}`));
const ACCEPT_ON_OTHER_CHANNEL = buildStatement<AcceptName>((of) => buildAccept(of, `channel = ${of('channel')},`, ''));
const END_ATTEMPT_IF_ACCEPTED = buildStatement<AcceptName>(
  (of) => `${buildEndAttempt(of)} AND EXISTS (SELECT 1 FROM tasks WHERE id = ${of('taskId')}
    AND upstream_account = ${of('upstreamAccount')} AND upstream_id = ${of('upstreamId')})`,
);
const END_ATTEMPT_UNLESS_KNOWN = buildStatement<AcceptName>(
  (of) => `${buildEndAttempt(of)} AND NOT ${buildIsOthers(of)}`,
);

export function sqlCreates(sql: Sql, note: WriteNote, { withPermits, withPermitsOfAll }: Permits): CreateStore {
  return {
    ...sqlBegins(sql, note, withPermitsOfAll),
    ...sqlTakeovers(sql, note),
    ...sqlAttempts(sql, note, withPermits),
  };
}

function sqlBegins(sql: Sql, note: WriteNote, withPermitsOfAll: WithPermitsOfAll): BeginStore {
  return {
    findKey: async (accountId, key, now) => {
      const [row] = await sql.read<{ fingerprint: string; task_id: string }>(
        'SELECT fingerprint, task_id FROM idempotency_keys WHERE account_id = $1 AND key = $2 AND expires_at > $3',
        [accountId, searchable(key), now],
      );
      return row === undefined ? undefined : { fingerprint: row.fingerprint, taskId: row.task_id };
    },

    begin: newBeginBatcher(withPermitsOfAll),

    refuse: (taskId, failure, at) =>
      sql.transaction(async (query) => {
        const [row] = await query<CountedRow>(
          `UPDATE tasks SET admission = 'refused', owner = NULL, state = 'failed', failure_json = $1,
           finished_at = $2, settle_at = $2, updated_at = $2, next_poll_at = NULL
         WHERE id = $3 AND admission = 'submitting' RETURNING ${COUNTED_COLUMNS}, ${WRITTEN.list}`,
          [JSON.stringify(failure), at, taskId],
        );
        if (row === undefined) return false;
        const { accountId, order } = WRITTEN.read(row);
        await query('UPDATE tasks SET order_json = $1 WHERE id = $2', [toJson(removeWritten(order)), taskId]);
        await forgetWords(query, { id: taskId, accountId });
        await query(
          `UPDATE attempts SET outcome = 'refused', error = 'not sent', ended_at = $1
           WHERE task_id = $2 AND outcome = 'started'`,
          [at, taskId],
        );
        await query('DELETE FROM idempotency_keys WHERE task_id = $1', [taskId]);
        await note(query, taskId, at, { type: 'refused', detail: { ...failure } });
        leaveCounters(query, taskId, row);
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

function sqlTakeovers(sql: Sql, note: WriteNote): TakeoverStore {
  return {
    disown: async (taskId) =>
      (
        await sql.write(
          `UPDATE tasks SET owner = $1 WHERE id = $2
             AND (admission = 'submitting' OR (admission = 'waiting' AND owner IS NOT NULL)) RETURNING id`,
          [DISOWNED, taskId],
        )
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

function sqlAttempts(sql: Sql, note: WriteNote, withPermits: WithPermits): AttemptStore {
  const acceptOnChannel = newMomentBatcher<NamedValues<AcceptName>, boolean>({
    ...BATCH,
    run: (batch) => acceptAll(sql, batch),
    isFinal: isAway,
  });
  return {
    startAttempt: async (taskId, attempt) => {
      const full = await withPermits({ id: taskId, caps: listChannelCaps(attempt) }, (query, permits) =>
        startAttempt(query, taskId, attempt, permits),
      );
      return full === undefined;
    },

    accept: async (taskId, attempt) => {
      const { number, mapping, at, nextPollAt } = attempt;
      const values = { taskId, number, at, nextPollAt, ...mapping, upstreamId: mapping.upstreamId ?? null };
      if (await acceptOnChannel(values)) return 'accepted';
      return sql.transaction(async (query) => {
        const [accepted] = await runStatements(query, [
          ACCEPT_ON_OTHER_CHANNEL(values),
          END_ATTEMPT_UNLESS_KNOWN(values),
        ]);
        if (accepted === 1) return 'accepted';
        return (await isKnown(query, taskId, attempt.mapping)) ? 'id_known' : undefined;
      });
    },

    refuseAttempt: (taskId, { number, channel, error, fault, at }) =>
      sql.transaction(async (query) => {
        const [row] = await query<CountedRow & { readonly account_id: string }>(
          `UPDATE tasks SET in_flight_json = in_flight_json WHERE id = $1 RETURNING account_id, ${COUNTED_COLUMNS}`,
          [taskId],
        );
        await query(
          `UPDATE attempts SET outcome = 'refused', error = $1, fault = $2, ended_at = $3
           WHERE task_id = $4 AND number = $5`,
          [error, fault ?? null, at, taskId, number],
        );
        if (row !== undefined)
          leaveSome(query, taskId, row, [channelScope(channel), channelAccountScope(channel, row.account_id)]);
      }),

    leaveUnknown: (taskId, { number, mapping, error, at }) =>
      sql.transaction(async (query) => {
        const [row] = await query(
          `UPDATE tasks SET admission = 'unknown', owner = NULL, channel = $1, upstream_account = $2,
             updated_at = CASE WHEN admission = 'waiting' AND updated_at >= $3 THEN updated_at + 1 ELSE $3 END
           WHERE id = $4 AND admission IN ('submitting', 'waiting') RETURNING ${TASK.list}`,
          [mapping.channel, mapping.upstreamAccount, at, taskId],
        );
        if (row === undefined) return undefined;
        await query(
          "UPDATE attempts SET outcome = 'unknown', error = $1, ended_at = $2 WHERE task_id = $3 AND number = $4",
          [error, at, taskId, number],
        );
        await note(query, taskId, at, { type: 'outcome_unknown', detail: { number, channel: mapping.channel, error } });
        return TASK.read(row);
      }),
  };
}

/**
 * Writes acceptances of one moment in one message, in the order of their tasks, so that two batches never wait for each
 * other in a circle. Returns for each whether it changed its task.
 */
async function acceptAll(sql: Sql, batch: readonly NamedValues<AcceptName>[]): Promise<readonly boolean[]> {
  const inOrder = batch.toSorted((one, other) => (String(one.taskId) < String(other.taskId) ? -1 : 1));
  const changes = await sql.changeAll(
    inOrder.flatMap((values) => [ACCEPT_ON_CHANNEL(values), END_ATTEMPT_IF_ACCEPTED(values)]),
  );
  return batch.map((values) => changes[2 * inOrder.indexOf(values)] === 1);
}

type AcceptName = 'taskId' | 'number' | 'channel' | 'upstreamAccount' | 'upstreamId' | 'nextPollAt' | 'at';
type AcceptParameter = (name: AcceptName) => string;

/**
 * A task does not take the work of another task, and then its attempt stays as it is. SQLite writes each index of a
 * column that is set, even to its own value, so a channel that the task has already is not set again.
 */
function buildAccept(of: AcceptParameter, set: string, condition: string): string {
  return `UPDATE tasks SET admission = 'accepted', owner = NULL, ${set} upstream_account = ${of('upstreamAccount')},
      upstream_id = ${of('upstreamId')}, next_poll_at = ${of('nextPollAt')},
      updated_at = CASE WHEN admission = 'submitting' THEN ${of('at')} ELSE updated_at END
    WHERE id = ${of('taskId')} AND admission IN ('submitting', 'unknown', 'waiting') AND upstream_id IS NULL ${condition}
      AND NOT ${buildIsOthers(of)}`;
}

function buildEndAttempt(of: AcceptParameter): string {
  return `UPDATE attempts SET outcome = 'accepted', upstream_id = ${of('upstreamId')}, ended_at = ${of('at')}
    WHERE task_id = ${of('taskId')} AND number = ${of('number')}`;
}

/** The condition that another task has the work. */
function buildIsOthers(of: AcceptParameter): string {
  return `EXISTS (SELECT 1 FROM tasks AS other WHERE other.upstream_account = ${of('upstreamAccount')}
    AND other.upstream_id = ${of('upstreamId')} AND other.id <> ${of('taskId')})`;
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

/** A task that was ever counted in a shard lists each later row, so that the last one is always the one that counts. */
const TAKE_CHANNEL = buildStatement<'taskId' | 'owner' | 'channel' | 'scopes' | 'rows'>(
  (of) => `UPDATE tasks SET in_flight_json = ${buildListAppend('in_flight_json', of('scopes'))},
      shards_json = CASE WHEN shards_json IS NULL AND CAST(${of('rows')} AS TEXT) = CAST(${of('scopes')} AS TEXT)
        THEN NULL ELSE ${buildListAppend('shards_json', of('rows'))} END,
      channel = ${of('channel')}
    WHERE id = ${of('taskId')} AND admission = 'submitting' AND owner = ${of('owner')} RETURNING id`,
);

async function startAttempt(
  query: SqlQuery,
  taskId: string,
  { number, owner, channel, at }: StartedAttempt,
  permits: readonly Permit[],
): Promise<void> {
  const scopes = permits.map(({ scope }) => JSON.stringify(scope)).join(',');
  const rows = permits.map(({ row }) => JSON.stringify(row)).join(',');
  // The row is locked first: a process that takes the create over waits, and then sees the attempt.
  const [own] = await Promise.all([
    query(...TAKE_CHANNEL({ taskId, owner, channel, scopes, rows })),
    insertStarted(query, [{ taskId, number, channel, at }]),
  ]);
  if (own.length === 0) throw new Overtaken(`the create of ${taskId} was taken over`);
}
