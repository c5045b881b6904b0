import type { Sql, SqlQuery, SqlRow, SqlStatement } from '@reelgate/platform/sql/sql';
import { computeCharge, computeStart } from '../../domain/fair-queue.ts';
import { selectNumber, text } from '../columns.ts';
import type { Flow, FlowStore, QueuePlace } from '../queue-store.ts';

/*
 * The turns that accounts and their tokens have used of a lane, and the places that they have in it. A change of places
 * holds a lock on the row of their account.
 */

/** Counts one more place of an account and of its token. The first one of a flow decides where the flow begins. */
export async function enterFlow(query: SqlQuery, { lane, accountId, tokenId }: Flow): Promise<void> {
  const [account] = await query(
    `INSERT INTO queue_accounts (lane, account_id, weight, held)
     SELECT $1, $2, COALESCE(MAX(weight), 1), COALESCE(MAX(held), 0) FROM queue_rules WHERE subject = $3
     ON CONFLICT (lane, account_id) DO UPDATE SET ready = 1, weight = excluded.weight, held = excluded.held
     RETURNING used, waiting, weight`,
    [lane, accountId, `account:${accountId}`],
  );
  const [token] = await query(
    `INSERT INTO queue_tokens (lane, account_id, token_id) VALUES ($1, $2, $3)
     ON CONFLICT (lane, account_id, token_id) DO UPDATE SET ready = 1 RETURNING used, waiting`,
    [lane, accountId, tokenId],
  );
  if (Number(account?.['waiting']) === 0) {
    const least = await findLeastOfLane(query, lane);
    const start = computeStart(Number(account?.['used']), least, Number(account?.['weight']));
    await updateAccount(query, { lane, accountId }, 'used = $1', start);
  }
  if (Number(token?.['waiting']) === 0) {
    const least = await findLeast(query, 'queue_tokens', 'lane = $1 AND account_id = $2', [lane, accountId]);
    const start = computeStart(Number(token?.['used']), least, 1);
    await updateToken(query, { lane, accountId, tokenId }, 'used = $1', start);
  }
  await countPlaces(query, { lane, accountId, tokenId }, 1);
}

/** An account without an id. Its row is locked while an account enters an empty lane. */
const EMPTY_LANE = '';

/** The first accounts of a lane enter it one after the other, so that each one sees the usage of the others. */
async function findLeastOfLane(query: SqlQuery, lane: string): Promise<number | undefined> {
  const find = (): Promise<number | undefined> => findLeast(query, 'queue_accounts', 'held = 0 AND lane = $1', [lane]);
  const seen = await find();
  if (seen !== undefined) return seen;
  await query(
    `INSERT INTO queue_accounts (lane, account_id) VALUES ($1, $2)
     ON CONFLICT (lane, account_id) DO UPDATE SET ready = 1`,
    [lane, EMPTY_LANE],
  );
  return find();
}

function findLeast(
  query: SqlQuery,
  table: 'queue_accounts' | 'queue_tokens',
  where: string,
  values: readonly string[],
): Promise<number | undefined> {
  return selectNumber(
    query,
    'used',
    `${table} WHERE ${where} AND waiting > 0 AND ready = 1 ORDER BY used LIMIT 1`,
    values,
  );
}

/** Changes the row of an account in a lane, by a value that the change names `$1`. */
export function updateAccount(
  query: SqlQuery,
  { lane, accountId }: Omit<Flow, 'tokenId'>,
  set: string,
  value: number,
): Promise<unknown> {
  return query(`UPDATE queue_accounts SET ${set} WHERE lane = $2 AND account_id = $3`, [value, lane, accountId]);
}

/** Changes the row of a token in a lane in the same way. */
export function updateToken(
  query: SqlQuery,
  { lane, accountId, tokenId }: Flow,
  set: string,
  value: number,
): Promise<unknown> {
  const where = 'lane = $2 AND account_id = $3 AND token_id = $4';
  return query(`UPDATE queue_tokens SET ${set} WHERE ${where}`, [value, lane, accountId, tokenId]);
}

export async function countPlaces(
  query: SqlQuery,
  flow: Flow,
  by: 1 | -1,
  set = 'waiting = waiting + $1',
): Promise<void> {
  await updateAccount(query, flow, set, by);
  await updateToken(query, flow, set, by);
}

/** Returns the charge of a place at its claim. */
export async function refund(query: SqlQuery, place: QueuePlace): Promise<void> {
  const { lane, accountId, cost } = place;
  const weight = await selectNumber(query, 'weight', 'queue_accounts WHERE lane = $1 AND account_id = $2', [
    lane,
    accountId,
  ]);
  await updateAccount(query, place, 'used = used - $1', computeCharge(cost, weight ?? 1));
  await updateToken(query, place, 'used = used - $1', computeCharge(cost, 1));
}

/**
 * The rows of a table for lanes without a place. A place that a process has claimed may return to it. The lanes are
 * found one after the other in the index, so that the rows of a busy lane are not read.
 */
const listIdle = (table: 'queue_accounts' | 'queue_tokens', columns: readonly string[]): string =>
  `WITH RECURSIVE lane_page (lane) AS (
     SELECT MIN(lane) FROM ${table}
     UNION ALL
     SELECT (SELECT MIN(${table}.lane) FROM ${table} WHERE ${table}.lane > lane_page.lane) FROM lane_page
     WHERE lane_page.lane IS NOT NULL
   ), idle (lane) AS (
     SELECT lane FROM lane_page WHERE lane IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM waiting WHERE waiting.lane = lane_page.lane AND claimed = 0)
       AND NOT EXISTS (SELECT 1 FROM waiting WHERE waiting.lane = lane_page.lane AND claimed = 1)
   )
   SELECT ${columns.map((column) => `${table}.${column}`).join(', ')} FROM idle CROSS JOIN ${table}
   WHERE ${table}.lane = idle.lane AND ${table}.waiting = 0 LIMIT $1`;

const IDLE_ACCOUNTS = listIdle('queue_accounts', ['lane', 'account_id', 'used']);
const IDLE_TOKENS = listIdle('queue_tokens', ['lane', 'account_id', 'token_id', 'used']);

/**
 * Forgets the usage of the flows of empty lanes. Each row is removed by itself, so that no entry waits for two of them.
 * A turn changes the usage of a flow, so a row that had one meanwhile stays.
 */
export function sqlIdleFlows(sql: Sql): FlowStore {
  const removeAll = async (idle: string, limit: number, toRemoval: (row: SqlRow) => SqlStatement): Promise<number> => {
    let removed = 0;
    for (const row of await sql.read(idle, [limit])) removed += (await sql.write(...toRemoval(row))).length;
    return removed;
  };
  return {
    removeIdleFlows: async (limit) =>
      (await removeAll(IDLE_ACCOUNTS, limit, (row) => [
        'DELETE FROM queue_accounts WHERE lane = $1 AND account_id = $2 AND waiting = 0 AND used = $3 RETURNING lane',
        [text(row['lane']), text(row['account_id']), row['used'] ?? 0],
      ])) +
      (await removeAll(IDLE_TOKENS, limit, (row) => [
        'DELETE FROM queue_tokens WHERE lane = $1 AND account_id = $2 AND token_id = $3 AND waiting = 0 AND used = $4 RETURNING lane',
        [text(row['lane']), text(row['account_id']), text(row['token_id']), row['used'] ?? 0],
      ])),
  };
}
