import type { SqlQuery } from '@reelgate/platform/sql/sql';

/** Counts one more, exactly. Returns false if the counter is at its limit. */
export async function countUp(query: SqlQuery, scope: string, limit: number): Promise<boolean> {
  if (limit <= 0) return false;
  const rows = await query(
    `INSERT INTO in_flight (scope, count) VALUES ($1, 1)
     ON CONFLICT (scope) DO UPDATE SET count = in_flight.count + 1 WHERE in_flight.count < $2 RETURNING count`,
    [scope, limit],
  );
  return rows.length === 1;
}

export async function countDown(query: SqlQuery, scope: string): Promise<void> {
  await query('UPDATE in_flight SET count = count - 1 WHERE scope = $1 AND count > 0', [scope]);
}

/** Takes a task out of all its counters, once. */
export async function leaveCounters(query: SqlQuery, taskId: string): Promise<void> {
  const [row] = await query<{ in_flight_json: string }>('SELECT in_flight_json FROM tasks WHERE id = $1', [taskId]);
  for (const scope of JSON.parse(row?.in_flight_json ?? '[]') as string[]) await countDown(query, scope);
  await query("UPDATE tasks SET in_flight_json = '[]' WHERE id = $1", [taskId]);
}

/** An SQL expression that adds a counter to the counters of a task. The parameter holds its name as JSON. */
export function joined(parameter: string): string {
  return `CASE WHEN in_flight_json = '[]' THEN '['
    ELSE substr(in_flight_json, 1, length(in_flight_json) - 1) || ',' END || CAST(${parameter} AS TEXT) || ']'`;
}

export async function leaveCounter(query: SqlQuery, taskId: string, scope: string): Promise<void> {
  const [row] = await query<{ in_flight_json: string }>('SELECT in_flight_json FROM tasks WHERE id = $1', [taskId]);
  const scopes = JSON.parse(row?.in_flight_json ?? '[]') as string[];
  if (!scopes.includes(scope)) return;
  await countDown(query, scope);
  await query('UPDATE tasks SET in_flight_json = $1 WHERE id = $2', [
    JSON.stringify(scopes.filter((other) => other !== scope)),
    taskId,
  ]);
}
