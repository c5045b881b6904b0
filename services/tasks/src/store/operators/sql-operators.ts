import { firstIdAt } from '@reelgate/platform/ids';
import type { NewId } from '@reelgate/platform/ids';
import type { AskedWait } from '@reelgate/platform/limits/asked-waits';
import { inExactChunks } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlQuery } from '@reelgate/platform/sql/sql';
import { ChannelFailureSchema } from '@reelgate/proto/tasks/v1/activity';
import type { MinuteRow } from '../../domain/minute-counts.ts';
import {
  inNumber,
  inOptionalNumber,
  insertMany,
  inText,
  inTime,
  messageColumns,
  recordColumns,
  removeFirst,
  searchable,
  text,
  toInsert,
} from '../columns.ts';
import { CALLS_MAX, PAUSES_MAX, WAITS_MAX } from '../operator-store.ts';
import type {
  CallStore,
  ChannelCalls,
  FaultStore,
  MinuteStore,
  OperatorStore,
  Pause,
  PauseStore,
  WaitStore,
} from '../operator-store.ts';
import { newActId, sqlActs, sqlActWrites } from './sql-acts.ts';
import type { WriteAct } from './sql-acts.ts';
import { sqlHandOver, sqlOperatorNotes } from './sql-hand-over.ts';
import { sqlSearch } from './sql-search.ts';
import type { ChannelFailureKind, FaultKind, FaultRow, NewChannelFailure } from '../../domain/minute-counts.ts';

const PAUSE = recordColumns<Pause>({
  channel: inText('channel'),
  at: inNumber('paused_at'),
  actor: inText('actor'),
  reason: inText('reason'),
  endsAt: inOptionalNumber('ends_at'),
});
const WAIT = recordColumns<AskedWait>({
  peer: inText('channel'),
  kind: inText('kind'),
  until: inNumber('until'),
});
const CALLS = recordColumns<ChannelCalls>({
  channel: inText('channel'),
  process: inText('process'),
  at: inNumber('at'),
  count: inNumber('count'),
});
const MINUTE = recordColumns<MinuteRow>({
  minute: inNumber('minute'),
  channel: inText('channel'),
  json: inText('counts_json'),
});

const UPSERT_MINUTES = insertMany(
  'minute_counts',
  ['process', ...MINUTE.names],
  'ON CONFLICT (minute, process, channel) DO UPDATE SET counts_json = excluded.counts_json',
);

const FAULT = recordColumns<FaultRow>({
  minute: inNumber('minute'),
  kind: inText<FaultKind>('kind'),
  subject: inText('subject'),
  json: inText('counts_json'),
});

const NEW_FAILURE = recordColumns<NewChannelFailure>({
  id: inText('id'),
  channel: inText('channel'),
  at: inNumber('at'),
  kind: inText<ChannelFailureKind>('kind'),
  taskId: inText('task_id'),
  error: inText('error'),
});

const FAILURE = messageColumns(ChannelFailureSchema, {
  at: inTime('at'),
  kind: inText('kind'),
  taskId: inText('task_id'),
  error: inText('error'),
});

const UPSERT_FAULTS = insertMany(
  'fault_minutes',
  ['process', ...FAULT.names],
  'ON CONFLICT (minute, process, kind, subject) DO UPDATE SET counts_json = excluded.counts_json',
);

const ADD_FAILURES = insertMany('channel_failures', NEW_FAILURE.names, 'ON CONFLICT (id) DO NOTHING');

const OLD_FAULTS = {
  table: 'fault_minutes',
  key: 'minute, process, kind, subject',
  where: 'minute < $1 ORDER BY minute LIMIT $2',
};

const OLD_FAILURES = { table: 'channel_failures', key: 'id', where: 'id < $1 ORDER BY id LIMIT $2' };

/** The pauses, acts, counts, searches and notes of operators. */
export function sqlOperators(sql: Sql, newId: NewId): OperatorStore {
  const writeAct = sqlActWrites(newId);
  return {
    ...sqlPauses(sql, newId, writeAct),
    ...sqlWaits(sql),
    ...sqlCalls(sql),
    ...sqlActs(sql, writeAct),
    ...sqlMinutes(sql),
    ...sqlFaults(sql),
    ...sqlSearch(sql),
    ...sqlHandOver(sql),
    ...sqlOperatorNotes(sql, newId, writeAct),
  };
}

function sqlWaits(sql: Sql): WaitStore {
  return {
    noteWait: async (wait) => {
      await sql.write(
        ...toInsert(
          'channel_waits',
          WAIT.write(wait),
          'ON CONFLICT (channel, kind) DO UPDATE SET until = excluded.until WHERE channel_waits.until < excluded.until',
        ),
      );
    },
    listWaits: (now) =>
      WAIT.selectFrom(sql.read, 'channel_waits WHERE until > $1 ORDER BY channel, kind LIMIT $2', [now, WAITS_MAX]),
    removeOldWaits: async (now) => {
      await sql.write('DELETE FROM channel_waits WHERE until <= $1', [now]);
    },
  };
}

function sqlCalls(sql: Sql): CallStore {
  return {
    noteCalls: async (calls) => {
      await sql.commitUnsynced((query) =>
        query(
          ...toInsert(
            'channel_calls',
            CALLS.write(calls),
            `ON CONFLICT (channel, process, at) DO UPDATE SET count = excluded.count
             WHERE channel_calls.count < excluded.count`,
          ),
        ),
      );
    },
    listCalls: async (since) =>
      (
        await sql.read(
          `SELECT channel, '' AS process, at, SUM(count) AS count FROM channel_calls WHERE at >= $1
           GROUP BY channel, at ORDER BY at, channel LIMIT $2`,
          [since, CALLS_MAX],
        )
      ).map(CALLS.read),
    removeOldCalls: async (before) => {
      await sql.write('DELETE FROM channel_calls WHERE at < $1', [before]);
    },
  };
}

function sqlPauses(sql: Sql, newId: NewId, writeAct: WriteAct): PauseStore {
  // The condition stands twice, because another process may have ended a pause and begun the next one meanwhile.
  const endPauses = async (query: SqlQuery, now: number): Promise<readonly string[]> => {
    const rows = await query(
      `DELETE FROM channel_pauses WHERE channel IN (
         SELECT channel FROM channel_pauses WHERE ends_at <= $1 ORDER BY channel LIMIT $2
       ) AND ends_at <= $1 RETURNING ${PAUSE.list}`,
      [now, PAUSES_MAX],
    );
    const ended = rows.map(PAUSE.read);
    for (const { channel, actor, reason, at, endsAt } of ended) {
      const act = { at: now, actor, action: 'channel_returned', subject: channel, reason } as const;
      await writeAct(query, { ...act, detail: { pausedAt: at, endsAt } });
    }
    return ended.map(({ channel }) => channel);
  };
  return {
    endPauses: (now) => sql.transaction((query) => endPauses(query, now)),
    pauses: () => PAUSE.selectFrom(sql.read, 'channel_pauses ORDER BY channel LIMIT $1', [PAUSES_MAX]),
    pause: (pause) =>
      sql.transaction(async (query) => {
        await endPauses(query, pause.at);
        const id = newActId(newId);
        // The update has no effect of its own. It returns, and locks, the existing row.
        const [row] = await query(
          ...toInsert(
            'channel_pauses',
            { ...PAUSE.write(pause), act_id: id },
            `ON CONFLICT (channel) DO UPDATE SET channel = excluded.channel RETURNING ${PAUSE.list}, act_id`,
          ),
        );
        const { channel, endsAt, ...by } = pause;
        if (row === undefined) throw new Error(`the pause of ${channel} was not written`);
        if (text(row['act_id']) === id)
          await writeAct(query, { ...by, action: 'channel_paused', subject: channel, detail: { endsAt } }, id);
        return PAUSE.read(row);
      }),
    resume: ({ channel, at, actor, reason }) =>
      sql.transaction(async (query) => {
        const rows = await query('DELETE FROM channel_pauses WHERE channel = $1 RETURNING channel', [channel]);
        if (rows.length === 0) return false;
        await writeAct(query, { at, actor, action: 'channel_resumed', subject: channel, reason });
        return true;
      }),
  };
}

function sqlMinutes(sql: Sql): MinuteStore {
  return {
    // A power cut may take the last counts back.
    writeMinutes: (process, rows) =>
      sql.commitUnsynced(async (query) => {
        for (const chunk of inExactChunks(rows))
          await query(...UPSERT_MINUTES(chunk.map((counts) => ({ process, ...MINUTE.write(counts) }))));
      }),
    minutesSince: (minute, limit) =>
      MINUTE.selectFrom(sql.read, 'minute_counts WHERE minute >= $1 ORDER BY minute DESC LIMIT $2', [minute, limit]),
    removeMinutes: (before, limit) => {
      const where = 'minute < $1 ORDER BY minute LIMIT $2';
      return removeFirst(sql, { table: 'minute_counts', key: 'minute, process, channel', where }, [before, limit]);
    },
  };
}

/** The faults by model and account, and the last failures of each channel. */
function sqlFaults(sql: Sql): FaultStore {
  return {
    // A power cut may take the last ones back.
    writeFaults: (process, faults, failures) =>
      sql.commitUnsynced(async (query) => {
        for (const chunk of inExactChunks(faults))
          await query(...UPSERT_FAULTS(chunk.map((fault) => ({ process, ...FAULT.write(fault) }))));
        for (const chunk of inExactChunks(failures)) await query(...ADD_FAILURES(chunk.map(NEW_FAILURE.write)));
      }),
    faultsSince: (minute, limit) =>
      FAULT.selectFrom(sql.read, 'fault_minutes WHERE minute >= $1 ORDER BY minute DESC LIMIT $2', [minute, limit]),
    channelFailures: (channel, limit) =>
      FAILURE.selectFrom(sql.read, 'channel_failures WHERE channel = $1 ORDER BY id DESC LIMIT $2', [
        searchable(channel),
        limit,
      ]),
    removeFaults: async (before, limit) =>
      Math.max(
        await removeFirst(sql, OLD_FAULTS, [before, limit]),
        await removeFirst(sql, OLD_FAILURES, [firstIdAt('fail', before), limit]),
      ),
  };
}
