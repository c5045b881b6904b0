import { firstIdAt, hasOwnForm, readIdTime } from '@reelgate/platform/ids';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import type { Sql } from '@reelgate/platform/sql/sql';
import { FoundWorkSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { FoundWork } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { inEnum, inText, inTime, recordColumns, searchable } from '../columns.ts';
import type { FoundBy, SearchStore } from '../operator-store.ts';

const FOUND = recordColumns({
  id: inText('id'),
  accountId: inText('account_id'),
  model: inText('model'),
  state: inEnum('state', deriveValues(TaskState)),
  createdAt: inTime('created_at'),
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

/** Finds tasks and jobs by the ids that people have: each way has an index, or a bound. */
export function sqlSearch(sql: Sql): SearchStore {
  const select = async (
    by: FoundBy,
    { table, isJob }: Table,
    where: string,
    [value, limit]: readonly [string, number],
  ): Promise<readonly FoundWork[]> =>
    (
      await sql.read(`SELECT ${FOUND.list} FROM ${table} WHERE ${where} ORDER BY id LIMIT $2`, [
        searchable(value),
        limit,
      ])
    ).map((row) => toMessage(FoundWorkSchema, { ...FOUND.read(row), isJob, foundBy: by }));
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
    ).map((row) => toMessage(FoundWorkSchema, { ...FOUND.read(row), isJob, foundBy: 'request_id' }));
  const findByRequest = async (table: Table, requestId: string, limit: number) => {
    const at = requestId.startsWith('req_') && hasOwnForm(requestId) ? readIdTime(requestId) : undefined;
    if (at !== undefined) return findNear(table, requestId, at, limit);
    return select('request_id', table, `request_id = $1 AND ${FROM_CLIENT}`, [requestId, limit]);
  };
  return {
    findWork: async (by, value, limit) => {
      const find = (table: Table): Promise<readonly FoundWork[]> => {
        if (by === 'request_id') return findByRequest(table, value, limit);
        if (by === 'id') return select(by, table, 'id = $1', [value, limit]);
        return select(by, table, 'trace IS NOT NULL AND substr(trace, 4, 32) = $1', [value, limit]);
      };
      return (await Promise.all(TABLES.map(find))).flat();
    },
  };
}
