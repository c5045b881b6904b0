import { firstIdAt } from '@reelgate/platform/ids';
import { inExactChunks } from '@reelgate/platform/sql/multi-row';
import type { Sql } from '@reelgate/platform/sql/sql';
import { ChannelFailureSchema } from '@reelgate/proto/tasks/v1/activity';
import type { ChannelFailureKind, FaultKind, FaultRow, NewChannelFailure } from '../../domain/minute-counts.ts';
import {
  inNumber,
  inText,
  inTime,
  insertMany,
  messageColumns,
  recordColumns,
  removeFirst,
  searchable,
} from '../columns.ts';
import type { FaultStore } from '../operator-store.ts';

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

/** The faults by model and account, and the last failures of each channel. */
export function sqlFaults(sql: Sql): FaultStore {
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
