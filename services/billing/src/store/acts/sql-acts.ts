import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { firstIdAt } from '@reelgate/platform/ids';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { buildInsert } from '@reelgate/platform/sql/named-values';
import type { Sql, SqlInteger, SqlQuery } from '@reelgate/platform/sql/sql';
import { ActSchema } from '@reelgate/proto/access/v1/act';
import type { Act } from '@reelgate/proto/access/v1/act';
import { ACT_PREFIX } from './act-store.ts';
import type { ActStore } from './act-store.ts';

const NAMES = ['id', 'at', 'actor', 'action', 'subject', 'reason', 'detail_json'] as const;
type ActRow = Record<Exclude<(typeof NAMES)[number], 'at'>, string> & { at: SqlInteger };
const COLUMNS = NAMES.join(', ');
const INSERT = buildInsert('operator_acts', NAMES);
const NEWEST = `SELECT ${COLUMNS} FROM operator_acts ORDER BY id DESC LIMIT $1`;
const BEFORE = `SELECT ${COLUMNS} FROM operator_acts WHERE id < $2 ORDER BY id DESC LIMIT $1`;
const NEWEST_OF_SUBJECT = `SELECT ${COLUMNS} FROM operator_acts WHERE subject = $2 ORDER BY id DESC LIMIT $1`;
const BEFORE_OF_SUBJECT = `SELECT ${COLUMNS} FROM operator_acts WHERE subject = $2 AND id < $3 ORDER BY id DESC LIMIT $1`;
const REMOVE =
  'DELETE FROM operator_acts WHERE id IN (SELECT id FROM operator_acts WHERE id < $1 ORDER BY id LIMIT $2) RETURNING id';

/** Records an act in the transaction that does it. */
export async function recordAct(query: SqlQuery, { at, detailJson, ...act }: Act): Promise<void> {
  await query(...INSERT({ ...act, at: at === undefined ? 0 : timestampMs(at), detail_json: detailJson }));
}

export function sqlActs(sql: Sql): ActStore {
  return {
    list: async ({ limit, after, subject }) => {
      const [all, next] = subject === '' ? [NEWEST, BEFORE] : [NEWEST_OF_SUBJECT, BEFORE_OF_SUBJECT];
      const values = [limit, ...(subject === '' ? [] : [subject])];
      const rows = await (after === '' ? sql.read<ActRow>(all, values) : sql.read<ActRow>(next, [...values, after]));
      return rows.map(({ at, detail_json: detailJson, ...row }) =>
        toMessage(ActSchema, { ...row, at: timestampFromMs(Number(at)), detailJson }),
      );
    },
    remove: async (before, limit) => (await sql.write(REMOVE, [firstIdAt(ACT_PREFIX, before), limit])).length,
  };
}
