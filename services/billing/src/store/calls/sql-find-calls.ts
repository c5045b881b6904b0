import { byRows, inChunks, parameters } from '@reelgate/platform/sql/multi-row';
import type { SqlQuery } from '@reelgate/platform/sql/sql';
import type { CallRecord } from '../../domain/call.ts';
import { CALL_COLUMNS, toCallRecord } from './call-rows.ts';
import type { CallRow } from './call-rows.ts';

const FIND = byRows((rows) => `SELECT ${CALL_COLUMNS} FROM calls WHERE id IN (${parameters(rows)})`);

/** The records of the ids that are known. */
export async function findCalls(query: SqlQuery, ids: readonly string[]): Promise<Map<string, CallRecord>> {
  const found = new Map<string, CallRecord>();
  for (const chunk of inChunks(ids)) {
    for (const row of await query<CallRow>(FIND(chunk.length), chunk)) found.set(row.id, toCallRecord(row));
  }
  return found;
}
