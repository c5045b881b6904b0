import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { firstIdAt } from '@reelgate/platform/ids';
import type { NewId } from '@reelgate/platform/ids';
import type { Sql, SqlQuery, SqlValue } from '@reelgate/platform/sql/sql';
import { ActSchema } from '@reelgate/proto/access/v1/act';
import { inText, inTime, messageColumns, removeFirst, searchable, toInsert } from '../columns.ts';
import type { ActStore, NewAct } from '../operator-store.ts';

const PREFIX = 'act';

const ACT = messageColumns(ActSchema, {
  id: inText('id'),
  at: inTime('at'),
  actor: inText('actor'),
  action: inText('action'),
  subject: inText('subject'),
  reason: inText('reason'),
  detailJson: inText('detail_json'),
});

/** Writes an act in the transaction of the change. */
export type WriteAct = (query: SqlQuery, act: NewAct, id?: string) => Promise<void>;

export function newActId(newId: NewId): string {
  return newId(PREFIX);
}

export function sqlActWrites(newId: NewId): WriteAct {
  return async (query, { at, actor, action, subject, reason, detail = {} }, id = newActId(newId)) => {
    await query(
      ...toInsert(
        'operator_acts',
        ACT.write({
          ...{ id, at: timestampFromMs(at), actor, action, subject, reason },
          detailJson: JSON.stringify(detail),
        }),
      ),
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
      const chosen = where.length === 0 ? '' : `WHERE ${where.join(' AND ')}`;
      return ACT.selectFrom(sql.read, `operator_acts ${chosen} ORDER BY id DESC LIMIT $1`, values);
    },
    removeActs: (before, limit) => {
      const where = 'id < $1 ORDER BY id LIMIT $2';
      return removeFirst(sql, { table: 'operator_acts', key: 'id', where }, [firstIdAt(PREFIX, before), limit]);
    },
  };
}
