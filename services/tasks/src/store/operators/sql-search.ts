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

/** The conditions of the indexes, word for word. The index of requests has those whose ids come from clients. */
const HAS: Readonly<Record<FoundBy, string>> = {
  id: 'id = $1',
  request_id: "request_id = $1 AND (substr(request_id, 1, 4) <> 'req_' OR length(request_id) <> 30)",
  trace_id: 'trace IS NOT NULL AND substr(trace, 4, 32) = $1',
};
/** A create begins within this time of its request, and clocks of machines differ by less. */
const BEFORE_REQUEST_MS = 2000;
const AFTER_REQUEST_MS = 120_000;
/** The most tasks near the time of a request that are examined. */
const EXAMINED_MAX = 20_000;

/** Finds tasks and jobs by the ids that people have: each way has an index, or a bound. */
export function sqlSearch(sql: Sql): SearchStore {
  const findNear = ({ table, prefix }: Table, requestId: string, at: number, limit: number) =>
    FOUND.selectFrom(
      sql.read,
      `(SELECT ${FOUND.list}, request_id FROM ${table} WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $3) AS near
       WHERE request_id = $4 ORDER BY id LIMIT $5`,
      [
        firstIdAt(prefix, at - BEFORE_REQUEST_MS),
        firstIdAt(prefix, at + AFTER_REQUEST_MS),
        EXAMINED_MAX,
        requestId,
        limit,
      ],
    );
  return {
    findWork: async (by, value, limit) => {
      const isOwnRequest = by === 'request_id' && value.startsWith('req_') && hasOwnForm(value);
      const at = isOwnRequest ? readIdTime(value) : undefined;
      const find = async (table: Table): Promise<readonly FoundWork[]> => {
        const found =
          at === undefined
            ? FOUND.selectFrom(sql.read, `${table.table} WHERE ${HAS[by]} ORDER BY id LIMIT $2`, [
                searchable(value),
                limit,
              ])
            : findNear(table, value, at, limit);
        return (await found).map((one) => toMessage(FoundWorkSchema, { ...one, isJob: table.isJob, foundBy: by }));
      };
      return (await Promise.all(TABLES.map(find))).flat();
    },
  };
}
