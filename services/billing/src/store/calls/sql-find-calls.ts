import type { SqlQuery } from '@reelgate/platform/sql/sql';
import type { CallStory } from '../../domain/call.ts';
import { CALL_COLUMNS, storyOf } from './call-rows.ts';
import type { CallRow } from './call-rows.ts';
import { byRows, inPieces, parameters } from '../sql-multi-row.ts';

const FIND = byRows((rows) => `SELECT ${CALL_COLUMNS} FROM calls WHERE id IN (${parameters(rows)})`);

/** Gives those that there are. */
export async function findCalls(query: SqlQuery, ids: readonly string[]): Promise<Map<string, CallStory>> {
  const found = new Map<string, CallStory>();
  for (const piece of inPieces(ids)) {
    for (const row of await query<CallRow>(FIND(piece.length), piece)) found.set(row.id, storyOf(row));
  }
  return found;
}
