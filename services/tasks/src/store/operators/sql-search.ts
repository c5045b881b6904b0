import { firstIdAt, hasOwnForm, readIdTime } from '@reelgate/platform/ids';
import type { Sql, SqlValue } from '@reelgate/platform/sql/sql';
import type { State } from '../../domain/task.ts';
import { inNumber, inText, recordColumns, searchable } from '../columns.ts';
import type { FoundWork, SearchStore } from '../operator-store.ts';

type FoundRow = Omit<FoundWork, 'isJob'>;

const FOUND = recordColumns<FoundRow>({
  id: inText('id'),
  accountId: inText('account_id'),
  model: inText('model'),
  state: inText<State>('state'),
  createdAt: inNumber('created_at'),
});
const TABLES = [
  { table: 'tasks', prefix: 'task', isJob: false },
  { table: 'jobs', prefix: 'job', isJob: true },
] as const;
type Table = (typeof TABLES)[number];

/** The condition of the index, word for word. */
const FROM_CLIENT = "(substr(request_id, 1, 4) <> 'req_' OR length(request_id) <> 30)";
/** A create begins within this time of its request, and clocks of machines differ by less. */
const BEFORE_REQUEST_MS = 2000;
const AFTER_REQUEST_MS = 120_000;
/** The most tasks near the time of a request that are examined. */
const EXAMINED_MAX = 20_000;

/** Finds tasks and jobs by what people hold in their hands: each way has an index, or a bound. */
export function sqlSearch(sql: Sql): SearchStore {
  const select = async (
    { table, isJob }: Table,
    where: string,
    values: readonly SqlValue[],
    limit: number,
  ): Promise<readonly FoundWork[]> =>
    (
      await sql.read(`SELECT ${FOUND.list} FROM ${table} WHERE ${where} ORDER BY id LIMIT $${values.length + 1}`, [
        ...values,
        limit,
      ])
    ).map((row) => ({ ...FOUND.read(row), isJob }));
  const findNear = async ({ table, prefix, isJob }: Table, requestId: string, at: number, limit: number) =>
    (
      await sql.read(
        `SELECT ${FOUND.list} FROM (
           SELECT ${FOUND.list}, request_id FROM ${table} WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $3
         ) AS near WHERE request_id = $4 ORDER BY id LIMIT $5`,
        [
          firstIdAt(prefix, at - BEFORE_REQUEST_MS),
          firstIdAt(prefix, at + AFTER_REQUEST_MS),
          EXAMINED_MAX,
          requestId,
          limit,
        ],
      )
    ).map((row) => ({ ...FOUND.read(row), isJob }));
  const findByRequest = async (table: Table, requestId: string, limit: number) => {
    const at = requestId.startsWith('req_') && hasOwnForm(requestId) ? readIdTime(requestId) : undefined;
    if (at !== undefined) return findNear(table, requestId, at, limit);
    return select(table, `request_id = $1 AND ${FROM_CLIENT}`, [searchable(requestId)], limit);
  };
  return {
    findWork: async (by, value, limit) => {
      const find = (table: Table): Promise<readonly FoundWork[]> => {
        if (by === 'request_id') return findByRequest(table, value, limit);
        if (by === 'id') return select(table, 'id = $1', [searchable(value)], limit);
        return select(table, 'trace IS NOT NULL AND substr(trace, 4, 32) = $1', [searchable(value)], limit);
      };
      return (await Promise.all(TABLES.map(find))).flat();
    },
  };
}
