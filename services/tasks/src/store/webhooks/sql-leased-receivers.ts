import { byRows, inChunks, parameters } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlQuery, SqlRow, SqlWork } from '@reelgate/platform/sql/sql';
import { DEFAULT_ENDPOINT } from '../../domain/webhook.ts';
import type { Endpoint } from '../../domain/webhook.ts';
import { text } from '../tasks/task-rows.ts';
import type { DeliveryStore, LeasedReceiver, ReceiverLease } from '../webhook-store.ts';
import { endPending, returnLease } from './sql-receiver-due-times.ts';
import {
  ENDPOINT_COLUMNS,
  HEALTH_COLUMNS,
  SELECT_DELIVERY,
  fromDeliveryRow,
  fromEndpointRow,
  fromHealthRow,
} from './webhook-rows.ts';

/** Candidates for each wanted receiver, because other workers may take the first ones at the same moment. */
const CANDIDATES = 8;
/** Due receivers that a lease considers. Sixty accounts at their limit have this many. */
const CONSIDERED_MAX = 2000;

const RECEIVER_COLUMNS = `id, account_id, endpoint_id, lease, circuit, ${HEALTH_COLUMNS}`;
/** The due time of a leased receiver is the end of its lease. */
const DUE = 'due_at IS NOT NULL AND due_at <= $3 AND (open_until IS NULL OR open_until <= $3)';
const IS_ORIGIN = `CASE WHEN endpoint_id = '${DEFAULT_ENDPOINT}' THEN 1 ELSE 0 END`;
const ANY_DUE = `SELECT id FROM webhook_receivers
  WHERE due_at IS NOT NULL AND due_at <= $1 AND (open_until IS NULL OR open_until <= $1)
  ORDER BY due_at LIMIT 1`;
/**
 * The next receivers: one of each account after the other, counting the leased receivers of the account, and for an
 * account the receiver that has waited longest. Only those that have waited longest of all are considered. Origins that
 * requests name have a part of the share of their account, so that its endpoints have the rest.
 */
const NEXT_RECEIVERS = `
  WITH leased AS (
    SELECT account_id, COUNT(*) AS held, SUM(${IS_ORIGIN}) AS origins FROM webhook_receivers
    WHERE lease_until IS NOT NULL AND lease_until > $3 GROUP BY account_id
  ),
  longest AS (
    SELECT id, account_id, due_at, ${IS_ORIGIN} AS is_origin FROM webhook_receivers
    WHERE ${DUE} AND account_id NOT IN (SELECT account_id FROM leased WHERE held >= $4)
      AND (endpoint_id <> '${DEFAULT_ENDPOINT}' OR account_id NOT IN (SELECT account_id FROM leased WHERE origins >= $8))
    ORDER BY due_at LIMIT ${CONSIDERED_MAX}
  ),
  alike AS (
    SELECT id, account_id, due_at, is_origin,
      ROW_NUMBER() OVER (PARTITION BY account_id, is_origin ORDER BY due_at, id) AS ordinal
    FROM longest
  ),
  due AS (
    SELECT alike.id, alike.account_id, alike.due_at,
      ROW_NUMBER() OVER (PARTITION BY alike.account_id ORDER BY alike.due_at, alike.id) AS ordinal
    FROM alike LEFT JOIN leased ON leased.account_id = alike.account_id
    WHERE alike.is_origin = 0 OR alike.ordinal + COALESCE(leased.origins, 0) <= $8
  ),
  fair AS (
    SELECT due.id, due.due_at, due.ordinal + COALESCE(leased.held, 0) AS fair_rank
    FROM due LEFT JOIN leased ON leased.account_id = due.account_id
    WHERE due.ordinal + COALESCE(leased.held, 0) <= $4 ORDER BY fair_rank, due.due_at LIMIT $6
  )
  SELECT webhook_receivers.id FROM fair JOIN webhook_receivers ON webhook_receivers.id = fair.id
  WHERE webhook_receivers.due_at IS NOT NULL AND webhook_receivers.due_at <= $3
  ORDER BY fair.fair_rank, fair.due_at LIMIT $5`;
const DUE_DELIVERIES = `${SELECT_DELIVERY}
  WHERE d.receiver_id = $1 AND d.due_at IS NOT NULL AND d.due_at <= $2 ORDER BY d.due_at, d.id LIMIT $3`;
const FIND_ENDPOINTS = byRows(
  (rows) => `SELECT ${ENDPOINT_COLUMNS} FROM webhook_endpoints WHERE id IN (${parameters(rows)})`,
);
const FIND_RECEIVERS = byRows(
  (rows) => `SELECT ${RECEIVER_COLUMNS} FROM webhook_receivers
    WHERE lease IS NOT NULL AND id IN (${parameters(rows)})`,
);
const RENEW = `UPDATE webhook_receivers SET lease_until = $3, due_at = $3
  WHERE id = $1 AND lease = $2 RETURNING id`;
/** A receiver without a due delivery is given back by the next lease. */
const END_ALL = 'UPDATE webhook_receivers SET lease = NULL, lease_until = NULL, due_at = $1 WHERE lease IS NOT NULL';

type Receiver = Omit<LeasedReceiver, 'deliveries'>;
type Leases = Pick<DeliveryStore, 'leaseReceivers' | 'renewLeases' | 'endLeases' | 'findHeldReceivers'>;

/** The leases of receivers: the worker that has a receiver, and the end of its lease. */
export function sqlLeasedReceivers(sql: Sql): Leases {
  return {
    leaseReceivers: async (options) => {
      if ((await sql.read(ANY_DUE, [options.now])).length === 0) return [];
      return sql.commitUnsynced((query) => leaseReceivers(query, sql.skipLocked, options));
    },
    renewLeases: async (leases, until) => {
      const kept = await sql.commitUnsynced((query) =>
        Promise.all(sortByReceiver(leases).map(({ receiverId, lease }) => query(RENEW, [receiverId, lease, until]))),
      );
      return new Set(kept.flat().map((row) => text(row['id'])));
    },
    endLeases: (now) => sql.transaction((query) => query.changes(END_ALL, [now])),
    findHeldReceivers: async (leases) => {
      const names = new Map(leases.map(({ receiverId, lease }) => [receiverId, lease]));
      const rows: SqlRow[] = [];
      for (const chunk of inChunks([...names.keys()]))
        rows.push(...(await sql.read(FIND_RECEIVERS(chunk.length), chunk)));
      const held = rows.filter((row) => names.get(text(row['id'])) === row['lease']);
      const endpoints = await findEndpoints(sql.read, held);
      return new Map(held.map((row) => [text(row['id']), fromReceiverRow(row, endpoints)]));
    },
  };
}

/** Rows are locked in this order everywhere. */
function sortByReceiver(leases: readonly ReceiverLease[]): readonly ReceiverLease[] {
  return leases.toSorted((one, other) => (one.receiverId < other.receiverId ? -1 : 1));
}

async function leaseReceivers(
  query: SqlWork,
  skipLocked: string,
  {
    worker,
    now,
    until,
    lease,
    limit,
    perAccount,
    originsPerAccount,
    deliveries,
    failuresMax,
  }: Parameters<DeliveryStore['leaseReceivers']>[0],
): Promise<readonly LeasedReceiver[]> {
  const rows = await query(
    `UPDATE webhook_receivers SET lease = $1, lease_until = $2, due_at = $2, worker = $7
     WHERE id IN (${NEXT_RECEIVERS} ${skipLocked}) RETURNING ${RECEIVER_COLUMNS}`,
    [lease, until, now, perAccount, limit, limit * CANDIDATES, worker ?? null, originsPerAccount],
  );
  if (rows.length === 0) return [];
  const [endpoints, ...due] = await Promise.all([
    findEndpoints(query, rows),
    ...rows.map((row) =>
      query(DUE_DELIVERIES, [text(row['id']), now, Number(row['failures']) >= failuresMax ? 1 : deliveries]),
    ),
  ]);
  const receivers = rows.map((row, index) => ({
    ...fromReceiverRow(row, endpoints),
    deliveries: (due[index] ?? []).map(fromDeliveryRow),
  }));
  const returned = await Promise.all(receivers.map((receiver) => returnUnusable(query, receiver, now)));
  return receivers.filter((_receiver, index) => returned[index] === false);
}

/** Gives back a receiver whose endpoint hears nothing any more, or that nothing is due for. */
async function returnUnusable(
  query: SqlWork,
  { id, endpointId, endpoint, deliveries }: LeasedReceiver,
  now: number,
): Promise<boolean> {
  const error = endpointId === DEFAULT_ENDPOINT ? undefined : explainUnusable(endpoint);
  if (error === undefined && deliveries.length > 0) return false;
  await Promise.all([error === undefined ? undefined : endPending(query, id, error, now), returnLease(query, id, now)]);
  return true;
}

function explainUnusable(endpoint: Endpoint | undefined): string | undefined {
  if (endpoint === undefined) return 'endpoint_removed';
  return endpoint.disabled === undefined ? undefined : 'endpoint_disabled';
}

async function findEndpoints(query: SqlQuery, receivers: readonly SqlRow[]): Promise<ReadonlyMap<string, Endpoint>> {
  const ids = receivers.map((row) => text(row['endpoint_id'])).filter((id) => id !== DEFAULT_ENDPOINT);
  const pages = await Promise.all(inChunks(ids).map((chunk) => query(FIND_ENDPOINTS(chunk.length), chunk)));
  return new Map(pages.flat().map((row) => [text(row['id']), fromEndpointRow(row)]));
}

function fromReceiverRow(row: SqlRow, endpoints: ReadonlyMap<string, Endpoint>): Receiver {
  const endpointId = text(row['endpoint_id']);
  return {
    id: text(row['id']),
    accountId: text(row['account_id']),
    endpointId,
    lease: text(row['lease']),
    health: fromHealthRow(row),
    circuit: Number(row['circuit']),
    endpoint: endpoints.get(endpointId),
  };
}
