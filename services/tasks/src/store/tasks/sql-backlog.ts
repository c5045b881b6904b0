import type { Sql } from '@reelgate/platform/sql/sql';
import { text } from './task-rows.ts';
import { AHEAD_MS } from '../task-store.ts';
import type { BacklogStore, WaitingCount } from '../backlog-store.ts';

/** Beyond it, the number of waiting rows no longer grows. */
const ATTENTION_MAX = 1000;
const UNSETTLED_MAX = 10_000;
/** The sizes of the statement over channels, so that the number of statements does not grow with the configuration. */
const CHANNELS_AT_ONCE = [4, 32] as const;
const CHANNELS_MOST = 32;

const OPEN = `SELECT channel, state, COUNT(*) AS count FROM tasks WHERE finished_at IS NULL GROUP BY channel, state`;
const ATTENTION = `SELECT COUNT(*) AS count, MIN(since) AS oldest FROM (
  SELECT since FROM attention WHERE resolved_at IS NULL ORDER BY since LIMIT $1) waiting`;
const UNSETTLED = `SELECT COUNT(*) AS count, MIN(finished_at) AS oldest FROM (
  SELECT finished_at FROM tasks WHERE finished_at IS NOT NULL AND settled_at IS NULL
  ORDER BY settle_at LIMIT $1) waiting`;

export function sqlBacklog(sql: Sql): BacklogStore {
  return {
    openTasks: async () =>
      (await sql.read(OPEN)).map((row) => ({
        channel: row['channel'] === null ? undefined : text(row['channel']),
        state: text(row['state']),
        count: Number(row['count']),
      })),
    dueSince: async (channels, now) => {
      const due = new Map<string, number>();
      for (let start = 0; start < channels.length; start += CHANNELS_MOST)
        for (const [channel, since] of await readDueTimes(sql, channels.slice(start, start + CHANNELS_MOST), now))
          due.set(channel, since);
      return due;
    },
    countAttention: async () => toWaitingCount((await sql.read(ATTENTION, [ATTENTION_MAX]))[0]),
    countUnsettled: async () => toWaitingCount((await sql.read(UNSETTLED, [UNSETTLED_MAX]))[0]),
  };
}

function toWaitingCount(row: Readonly<Record<string, unknown>> | undefined): WaitingCount {
  const oldest = row?.['oldest'] ?? null;
  return { count: Number(row?.['count'] ?? 0), oldest: oldest === null ? undefined : Number(oldest) };
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
