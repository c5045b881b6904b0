import type { NewId } from '@reelgate/platform/ids';
import type { SqlQuery } from '@reelgate/platform/sql/sql';
import type { ClientEvent } from '../../domain/webhook.ts';

/** Writes an event for clients, in the transaction of the fact that it reports. */
export type WriteEvent = (query: SqlQuery, event: Omit<ClientEvent, 'id' | 'dataJson'>) => Promise<void>;

export function sqlEventWrites(newId: NewId): WriteEvent {
  return async (query, { accountId, type, subjectId, createdAt, url, origin }) => {
    await query(
      `INSERT INTO events (id, account_id, type, subject_id, created_at, url, request_id, trace, work_created_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
      [
        newId('evt'),
        accountId,
        type,
        subjectId,
        createdAt,
        url ?? null,
        origin?.requestId ?? null,
        origin?.trace ?? null,
        origin?.createdAt ?? null,
      ],
    );
  };
}
