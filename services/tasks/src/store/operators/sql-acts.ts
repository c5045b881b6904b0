import { firstIdAt } from '@reelgate/platform/ids';
import type { NewId } from '@reelgate/platform/ids';
import type { Sql, SqlQuery, SqlValue } from '@reelgate/platform/sql/sql';
import { searchable, text } from '../tasks/task-rows.ts';
import type { ActStore, NewAct } from '../operator-store.ts';

const PREFIX = 'act';

/** Writes an act in the transaction of the change. */
export type WriteAct = (query: SqlQuery, act: NewAct, id?: string) => Promise<void>;

export function newActId(newId: NewId): string {
  return newId(PREFIX);
}

export function sqlActWrites(newId: NewId): WriteAct {
  return async (query, { at, actor, action, subject, reason, detail = {} }, id = newActId(newId)) => {
    await query(
      `INSERT INTO operator_acts (id, at, actor, action, subject, reason, detail_json)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [id, at, actor, action, subject, reason, JSON.stringify(detail)],
    );
  };
}

export function sqlActs(sql: Sql, writeAct: WriteAct): ActStore {
  return {
    addAct: (act) => sql.transaction((query) => writeAct(query, act)),
    acts: async ({ subject }, { limit, after }) => {
      const values: SqlValue[] = [limit];
      const where: string[] = [];
      if (subject !== undefined) where.push(`subject = $${values.push(searchable(subject))}`);
      if (after !== undefined) where.push(`id < $${values.push(searchable(after))}`);
      const rows = await sql.read(
        `SELECT id, at, actor, action, subject, reason, detail_json FROM operator_acts
         ${where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`} ORDER BY id DESC LIMIT $1`,
        values,
      );
      return rows.map((row) => ({
        id: text(row['id']),
        at: Number(row['at']),
        actor: text(row['actor']),
        action: text(row['action']),
        subject: text(row['subject']),
        reason: text(row['reason']),
        detailJson: text(row['detail_json']),
      }));
    },
    removeActs: async (before, limit) =>
      (
        await sql.write(
          `DELETE FROM operator_acts WHERE id IN (
             SELECT id FROM operator_acts WHERE id < $1 ORDER BY id LIMIT $2 ${sql.skipLocked}
           ) RETURNING id`,
          [firstIdAt(PREFIX, before), limit],
        )
      ).length,
  };
}
