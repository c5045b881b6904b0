import { firstIdAt } from '@reelgate/platform/ids';
import type { Sql, SqlRow } from '@reelgate/platform/sql/sql';
import type { BacklogStore, SelfCheckStore, WaitingCount } from '../backlog-store.ts';
import type { Failure } from '../../domain/task.ts';
import { inOptionalJson, optionalNumber, optionalText, text } from '../columns.ts';
import { AHEAD_MS } from '../task-store.ts';

/** Beyond it, the number of waiting rows no longer grows. */
const ATTENTION_MAX = 1000;
const UNSETTLED_MAX = 10_000;
/** The tasks of further lanes are not counted. */
const LANES_MAX = 1000;
const SUBMISSIONS_MAX = 20_000;
/** Tasks that were created this long before a submission have waited, and those that wait are spread evenly. */
const CREATED_BEFORE_MS = 3_600_000;
/** The sizes of the statement over channels, so that the number of statements does not grow with the configuration. */
const CHANNELS_AT_ONCE = [4, 32] as const;
const CHANNELS_MOST = 32;

const OPEN = `SELECT channel, state, COUNT(*) AS count FROM tasks WHERE finished_at IS NULL GROUP BY channel, state`;
const ATTENTION = `SELECT COUNT(*) AS count, MIN(since) AS oldest FROM (
  SELECT since FROM attention WHERE resolved_at IS NULL ORDER BY since LIMIT $1) waiting`;
const SUBMISSIONS = `SELECT channel, started_at FROM attempts WHERE task_id >= $1 AND started_at > $2
  ORDER BY started_at DESC LIMIT $3`;
const LANES = `SELECT lane, SUM(waiting) AS count,
  (SELECT since FROM waiting WHERE waiting.lane = queue_accounts.lane AND claimed = 0 ORDER BY since LIMIT 1) AS oldest
  FROM queue_accounts WHERE waiting > 0 GROUP BY lane ORDER BY lane LIMIT $1`;
const UNSETTLED = `SELECT COUNT(*) AS count, MIN(finished_at) AS oldest FROM (
  SELECT finished_at FROM tasks WHERE finished_at IS NOT NULL AND settled_at IS NULL
  ORDER BY settle_at LIMIT $1) waiting`;
const FAILURE = inOptionalJson<Failure>('failure_json');

export function sqlBacklog(sql: Sql): BacklogStore {
  return {
    openTasks: async () =>
      (await sql.read(OPEN)).map((row) => ({
        channel: optionalText(row['channel']),
        state: text(row['state']),
        count: Number(row['count']),
      })),
    submissionsAfter: async (time) => {
      const since = firstIdAt('task', time - CREATED_BEFORE_MS);
      const rows = await sql.read(SUBMISSIONS, [since, time, SUBMISSIONS_MAX]);
      const byChannel = Map.groupBy(rows.toReversed(), (row) => text(row['channel']));
      return new Map([...byChannel].map(([channel, of]) => [channel, of.map((row) => Number(row['started_at']))]));
    },
    dueSince: async (channels, now) => {
      const due = new Map<string, number>();
      for (let start = 0; start < channels.length; start += CHANNELS_MOST)
        for (const [channel, since] of await readDueTimes(sql, channels.slice(start, start + CHANNELS_MOST), now))
          due.set(channel, since);
      return due;
    },
    countAttention: async () => toWaitingCount((await sql.read(ATTENTION, [ATTENTION_MAX]))[0]),
    countLanes: async () =>
      (await sql.read(LANES, [LANES_MAX])).map((row) => ({ lane: text(row['lane']), ...toWaitingCount(row) })),
    countUnsettled: async () => toWaitingCount((await sql.read(UNSETTLED, [UNSETTLED_MAX]))[0]),
  };
}

function toWaitingCount(row: SqlRow | undefined): WaitingCount {
  return { count: Number(row?.['count'] ?? 0), oldest: optionalNumber(row?.['oldest']) };
}

/** A task that its upstream called for has a due time before all others, so its time is found apart. */
async function readDueTimes(sql: Sql, channels: readonly string[], now: number): Promise<ReadonlyMap<string, number>> {
  const size = CHANNELS_AT_ONCE.find((most) => most >= channels.length) ?? CHANNELS_MOST;
  const names = Array.from({ length: size }, (_, index) => channels[index] ?? channels[0] ?? '');
  const rows = await sql.read(buildDueSelect(size), [now, now - AHEAD_MS, ...names]);
  return new Map(
    rows.flatMap((row) => {
      const times = [
        ...(row['planned'] === null ? [] : [Number(row['planned'])]),
        ...(row['called'] === null ? [] : [Number(row['called']) + AHEAD_MS]),
      ];
      return times.length === 0 ? [] : [[text(row['channel']), Math.min(...times)] as const];
    }),
  );
}

function buildDueSelect(channels: number): string {
  const names = Array.from({ length: channels }, (_, index) => `SELECT CAST($${index + 3} AS TEXT) AS channel`);
  const first = (from: string, until: string): string => `(SELECT next_poll_at FROM tasks
    WHERE tasks.channel = asked.channel AND next_poll_at IS NOT NULL AND next_poll_at > ${from}
      AND next_poll_at <= ${until} AND (lease_until IS NULL OR lease_until <= $1) ORDER BY next_poll_at LIMIT 1)`;
  return `SELECT asked.channel, ${first('$2', '$1')} AS planned, ${first('0', '$2')} AS called
    FROM (${names.join(' UNION ')}) asked`;
}

/** Beyond it, the number of waiting rows no longer grows. */
const COUNTED_MAX = 10_000;
const ATTEMPTS_MAX = 2000;
/** Of the tasks that are marked as past the soft deadline, and of those that are not marked yet. */
const LATE_MAX = 1000;
const LATE_NAMED_MAX = 3;

/** Literals, because SQLite does not match a parameter to the partial index. */
const lateWhere = (deadlinePassed: 0 | 1): string => `SELECT * FROM (
  SELECT id, channel, created_at, admission FROM tasks
  WHERE finished_at IS NULL AND deadline_passed = ${deadlinePassed} AND created_at < $1
    AND (began_at IS NULL OR began_at < $1)
  ORDER BY created_at LIMIT $2) page_${deadlinePassed}`;
/** A task past the hard deadline is raised to attention, and so are others for their own reasons. */
const LATE = `SELECT late.id, late.channel, late.created_at, late.admission, waiting.task_id AS waits
  FROM (${lateWhere(0)} UNION ALL ${lateWhere(1)}) late
  LEFT JOIN attention waiting ON waiting.task_id = late.id AND waiting.resolved_at IS NULL
  ORDER BY late.created_at`;

export function sqlSelfChecks(sql: Sql): SelfCheckStore {
  return {
    outbox: async () =>
      toBacklog(
        await sql.read(
          `SELECT COUNT(*) AS count, MIN(created_at) AS oldest
           FROM (SELECT created_at FROM outbox ORDER BY id LIMIT $1) staged`,
          [COUNTED_MAX],
        ),
      ),
    lateTasks: async (createdBefore) => {
      const rows = await sql.read(LATE, [createdBefore, LATE_MAX]);
      const late = rows.filter((row) => row['waits'] === null);
      return {
        count: late.length,
        isAtLeast: rows.length >= LATE_MAX,
        oldest: late.slice(0, LATE_NAMED_MAX).map((row) => ({
          id: text(row['id']),
          channel: optionalText(row['channel']),
          createdAt: Number(row['created_at']),
          isUnknown: row['admission'] === 'unknown',
        })),
      };
    },
    attemptsSince: async (since) =>
      (
        await sql.read(
          `SELECT attempts.channel, attempts.outcome, attempts.error, attempts.fault, tasks.account_id,
             tasks.failure_json
           FROM attempts JOIN tasks ON tasks.id = attempts.task_id WHERE attempts.task_id >= $1
           ORDER BY attempts.task_id DESC, attempts.number DESC LIMIT $2`,
          [firstIdAt('task', since), ATTEMPTS_MAX],
        )
      ).map((row) => ({
        channel: text(row['channel']),
        accountId: text(row['account_id']),
        outcome: text(row['outcome']),
        error: text(row['error']),
        fault: optionalText(row['fault']),
        failureCode: FAILURE.read(row)?.code,
      })),
  };
}

function toBacklog([row]: readonly SqlRow[]): Awaited<ReturnType<SelfCheckStore['outbox']>> {
  return { count: Number(row?.['count'] ?? 0), oldestAt: optionalNumber(row?.['oldest']) };
}
