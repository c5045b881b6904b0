import type { Sql, SqlQuery } from '@reelgate/platform/sql/sql';
import type { MediaObject, Purpose } from '../domain/media-object.ts';
import type { MediaStore } from './media-store.ts';
import { findObject, toPurposeColumn, RESULT_OF, STAGED_FOR, THUMBNAIL_OF } from './object-rows.ts';
import type { Where } from './object-rows.ts';
import { sqlBooks } from './sql-books.ts';
import { sqlClaims } from './sql-claims.ts';
import { sqlPins } from './sql-pins.ts';
import { SETTLE, sqlRemovals } from './sql-removals.ts';
import { sqlSweeps } from './sql-sweeps.ts';
import { sqlUploads } from './sql-uploads.ts';

export function sqlMediaStore(sql: Sql): MediaStore {
  const one = (...which: Where): Promise<MediaObject | undefined> => findObject(sql.read, which);
  return {
    find: (id) => one('o.id = $1', [id]),
    findResult: (taskId) => one(...RESULT_OF(taskId)),
    findThumbnail: (taskId) => one(...THUMBNAIL_OF(taskId)),
    findStaged: (accountId, taskId, reference) => one(...STAGED_FOR(accountId, taskId, reference)),
    noteFacts: async (sha256, facts) => {
      await sql.write('UPDATE blobs SET facts = $2 WHERE sha256 = $1', [sha256, JSON.stringify(facts)]);
    },
    removeResult: (taskId, now) =>
      sql.transaction(async (query) => {
        // in this order: the second update finds a thumbnail that is added at the same moment, or it is not added
        const [result] = await markRemoved(query, 'result', taskId, now);
        for (const { sha256 } of [
          ...(result === undefined ? [] : [result]),
          ...(await markRemoved(query, 'thumbnail', taskId, now)),
        ])
          await query(SETTLE, [sha256, now]);
        return result !== undefined;
      }),
    ...sqlClaims(sql),
    ...sqlPins(sql),
    ...sqlBooks(sql),
    ...sqlRemovals(sql),
    ...sqlUploads(sql),
    ...sqlSweeps(sql),
  };
}

function markRemoved(query: SqlQuery, purpose: Purpose, taskId: string, now: number): Promise<{ sha256: string }[]> {
  return query<{ sha256: string }>(
    'UPDATE objects SET removed_at = $3 WHERE task_id = $1 AND purpose = $2 AND removed_at IS NULL RETURNING sha256',
    [taskId, toPurposeColumn(purpose), now],
  );
}
