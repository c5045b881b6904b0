import type { Sql, SqlQuery } from '@reelgate/platform/sql/sql';
import type { NewTask } from '../../src/store/task-store.ts';

/** What the release before the shards wrote: its statements on the counters, in its order. */
export interface ReleaseBeforeShards {
  /** Whether it began the task. */
  begin(task: { readonly id: string; readonly tokenId: string; readonly caps: NewTask['caps'] }): Promise<boolean>;
  /** Ends a task, whichever release began it. */
  end(taskId: string): Promise<void>;
  /** Takes a task out of some counters, as at its hard deadline. */
  leave(taskId: string, scope: string): Promise<void>;
}

const COUNT_UP = `INSERT INTO in_flight (scope, count) VALUES ($1, 1)
  ON CONFLICT (scope) DO UPDATE SET count = in_flight.count + 1 WHERE in_flight.count < $2 RETURNING count`;
const COUNT_DOWN = 'UPDATE in_flight SET count = count - 1 WHERE scope = $1 AND count > 0';

export function releaseBeforeShards(sql: Sql): ReleaseBeforeShards {
  const scopesOf = async (query: SqlQuery, taskId: string): Promise<readonly string[]> => {
    const [row] = await query<{ in_flight_json: string }>('SELECT in_flight_json FROM tasks WHERE id = $1', [taskId]);
    return JSON.parse(row!.in_flight_json) as string[];
  };
  return {
    begin: async ({ id, tokenId, caps }) => {
      const full = new Error('full');
      try {
        await sql.transaction(async (query) => {
          await query(
            `INSERT INTO tasks (id, account_id, token_id, kind, model, order_json, admission, owner, state, seconds,
               created_at, updated_at, in_flight_json)
             VALUES ($1, 'acme', $2, 'generation', 'Alpha-H3', '{}', 'submitting', 'old', 'queued', 5, 1, 1, $3)`,
            [id, tokenId, JSON.stringify(caps.map(({ scope }) => scope))],
          );
          for (const { scope, limit } of caps) if ((await query(COUNT_UP, [scope, limit])).length === 0) throw full;
        });
        return true;
      } catch (error) {
        if (error === full) return false;
        throw error;
      }
    },
    end: (taskId) =>
      sql.transaction(async (query) => {
        await query("UPDATE tasks SET state = 'failed', admission = 'refused', finished_at = 2 WHERE id = $1", [
          taskId,
        ]);
        for (const scope of await scopesOf(query, taskId)) await query(COUNT_DOWN, [scope]);
        await query("UPDATE tasks SET in_flight_json = '[]' WHERE id = $1", [taskId]);
      }),
    leave: (taskId, scope) =>
      sql.transaction(async (query) => {
        await query('UPDATE tasks SET deadline_passed = 2 WHERE id = $1', [taskId]);
        const scopes = await scopesOf(query, taskId);
        if (!scopes.includes(scope)) return;
        await query(COUNT_DOWN, [scope]);
        await query('UPDATE tasks SET in_flight_json = $1 WHERE id = $2', [
          JSON.stringify(scopes.filter((other) => other !== scope)),
          taskId,
        ]);
      }),
  };
}
