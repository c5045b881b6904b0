import { byRows, inChunks, parameters } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlQuery, SqlRow } from '@reelgate/platform/sql/sql';
import type { SealedSecret } from '../../domain/webhook.ts';
import { text } from '../tasks/task-rows.ts';
import type { EndpointStore } from '../webhook-store.ts';
import { SECRET_COLUMNS, fromSecretRow, toSecretRow } from './webhook-rows.ts';

const FIND = byRows((rows) => `SELECT ${SECRET_COLUMNS} FROM webhook_secrets WHERE owner_id IN (${parameters(rows)})`);
const INSERT = `INSERT INTO webhook_secrets (${SECRET_COLUMNS}) VALUES (${parameters(8)})
  ON CONFLICT (owner_id) DO NOTHING`;
const REPLACE = `UPDATE webhook_secrets SET sealed = $2, hint = $3, old_sealed = $4, old_until = $5, updated_at = $6
  WHERE owner_id = $1 AND sealed = $7 RETURNING owner_id`;

/** The signing secrets, as they are sealed. */
export function sqlSecrets(
  sql: Sql,
): Pick<EndpointStore, 'findSecrets' | 'addSecret' | 'replaceSecret' | 'listSecrets'> {
  return {
    findSecrets: async (ownerIds) => {
      const rows: SqlRow[] = [];
      for (const chunk of inChunks(ownerIds)) rows.push(...(await sql.read(FIND(chunk.length), chunk)));
      return new Map(rows.map((row) => [text(row['owner_id']), fromSecretRow(row)]));
    },
    addSecret: async (secret) => {
      const [, [stored]] = await sql.transaction((query) =>
        Promise.all([insertSecret(query, secret), query(FIND(1), [secret.ownerId])]),
      );
      return stored === undefined ? secret : fromSecretRow(stored);
    },
    replaceSecret: async ({ ownerId, sealed, hint, old, updatedAt }, was) =>
      (await sql.write(REPLACE, [ownerId, sealed, hint, old?.sealed ?? null, old?.until ?? null, updatedAt, was]))
        .length > 0,
    listSecrets: async (after, limit) =>
      (
        await sql.read(`SELECT ${SECRET_COLUMNS} FROM webhook_secrets WHERE owner_id > $1 ORDER BY owner_id LIMIT $2`, [
          after,
          limit,
        ])
      ).map(fromSecretRow),
  };
}

/** Writes a secret unless its owner has one. */
export async function insertSecret(query: SqlQuery, secret: SealedSecret): Promise<void> {
  await query(INSERT, toSecretRow(secret));
}
