import { byRows, inChunks, parameters } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlRow, SqlWork } from '@reelgate/platform/sql/sql';
import type { Endpoint } from '../../domain/webhook.ts';
import { searchable, text, toJson } from '../tasks/task-rows.ts';
import type { EndpointStore } from '../webhook-store.ts';
import { endPending, refreshDueTime, resendPending } from './sql-receiver-due-times.ts';
import { insertSecret } from './sql-secrets.ts';
import { ENDPOINT_COLUMNS, HEALTH_COLUMNS, fromEndpointRow, fromHealthRow } from './webhook-rows.ts';

const COUNT_UP = `INSERT INTO webhook_accounts (account_id, endpoints) VALUES ($1, 1)
  ON CONFLICT (account_id) DO UPDATE SET endpoints = webhook_accounts.endpoints + 1
  WHERE webhook_accounts.endpoints < $2 RETURNING account_id`;
const COUNT_DOWN = 'UPDATE webhook_accounts SET endpoints = endpoints - 1 WHERE account_id = $1';
const INSERT = `INSERT INTO webhook_endpoints
  (id, account_id, name, url, event_types_json, payload, created_at, updated_at, disabled_at, disabled_reason)
  VALUES (${parameters(10)})`;
/** $8 is 1 for a change that enables, 0 for one that disables, and null for any other. What is enabled is not changed. */
const UPDATE = `UPDATE webhook_endpoints SET name = COALESCE($3, name), url = COALESCE($4, url),
    event_types_json = COALESCE($5, event_types_json), payload = COALESCE($6, payload),
    disabled_reason = CASE CAST($8 AS INTEGER) WHEN 1 THEN NULL WHEN 0 THEN COALESCE(disabled_reason, 'by_owner')
      ELSE disabled_reason END,
    disabled_at = CASE CAST($8 AS INTEGER) WHEN 1 THEN NULL WHEN 0 THEN COALESCE(disabled_at, $7) ELSE disabled_at END,
    updated_at = CASE WHEN COALESCE($3, $4, $5, $6) IS NULL AND CAST($8 AS INTEGER) = 1 AND disabled_at IS NULL
      THEN updated_at ELSE $7 END
  WHERE id = $1 AND account_id = $2 RETURNING ${ENDPOINT_COLUMNS}`;
const FORGET_FAILURES = `UPDATE webhook_receivers
  SET failures = 0, failing_since = NULL, open_until = NULL, circuit = circuit + 1, updated_at = $2 WHERE id = $1`;
const LOCK_RECEIVER = 'UPDATE webhook_receivers SET updated_at = $2 WHERE id = $1';
/** A receiver with more pending deliveries than one statement ends stays until the last of them has ended. */
const REMOVE_RECEIVER = `DELETE FROM webhook_receivers WHERE id = $1
  AND NOT EXISTS (SELECT 1 FROM webhook_deliveries WHERE receiver_id = $1 AND due_at IS NOT NULL)`;
const HEALTH = byRows(
  (rows) => `SELECT id, ${HEALTH_COLUMNS} FROM webhook_receivers WHERE id IN (${parameters(rows)})`,
);

type Endpoints = Pick<
  EndpointStore,
  'addEndpoint' | 'findEndpoint' | 'listEndpoints' | 'updateEndpoint' | 'removeEndpoint' | 'readHealth'
>;

/** The endpoints of accounts. The receiver of an endpoint has its id. */
export function sqlEndpoints(sql: Sql): Endpoints {
  return {
    addEndpoint: (endpoint, secret, max) =>
      sql.transaction(async (query) => {
        const counted = await query(COUNT_UP, [endpoint.accountId, max]);
        if (counted.length === 0) return false;
        await Promise.all([query(INSERT, toEndpointRow(endpoint)), insertSecret(query, secret)]);
        return true;
      }),
    updateEndpoint: (accountId, endpointId, change) =>
      sql.transaction((query) => update(query, [searchable(endpointId), searchable(accountId)], change)),
    removeEndpoint: (accountId, endpointId, at) =>
      sql.transaction((query) => remove(query, [searchable(endpointId), searchable(accountId)], at)),
    ...sqlEndpointReads(sql),
  };
}

function sqlEndpointReads(sql: Sql): Pick<Endpoints, 'findEndpoint' | 'listEndpoints' | 'readHealth'> {
  return {
    findEndpoint: async (accountId, endpointId) => {
      const [row] = await sql.read(
        `SELECT ${ENDPOINT_COLUMNS} FROM webhook_endpoints WHERE id = $1 AND account_id = $2`,
        [searchable(endpointId), searchable(accountId)],
      );
      return row === undefined ? undefined : fromEndpointRow(row);
    },
    listEndpoints: async (accountId, { limit, after }) =>
      (
        await sql.read(
          `SELECT ${ENDPOINT_COLUMNS} FROM webhook_endpoints
           WHERE account_id = $1 AND ($2 = '' OR id < $2) ORDER BY id DESC LIMIT $3`,
          [searchable(accountId), searchable(after ?? ''), limit],
        )
      ).map(fromEndpointRow),
    readHealth: async (endpointIds) => {
      const rows: SqlRow[] = [];
      for (const chunk of inChunks(endpointIds)) rows.push(...(await sql.read(HEALTH(chunk.length), chunk)));
      return new Map(rows.map((row) => [text(row['id']), fromHealthRow(row)]));
    },
  };
}

type EndpointKey = readonly [endpointId: string, accountId: string];

async function update(
  query: SqlWork,
  [endpointId, accountId]: EndpointKey,
  { name, url, eventTypes, payload, enabled, at }: Parameters<EndpointStore['updateEndpoint']>[2],
): Promise<Endpoint | undefined> {
  const enables = enabled === undefined ? null : Number(enabled);
  const [row] = await query(UPDATE, [
    endpointId,
    accountId,
    name ?? null,
    url ?? null,
    toJson(eventTypes),
    payload ?? null,
    at,
    enables,
  ]);
  if (row === undefined) return undefined;
  if (enabled === true)
    await Promise.all([
      query(FORGET_FAILURES, [endpointId, at]),
      resendPending(query, endpointId, at),
      refreshDueTime(query, endpointId, at),
    ]);
  if (enabled === false)
    await Promise.all([
      query(LOCK_RECEIVER, [endpointId, at]),
      endPending(query, endpointId, 'endpoint_disabled', at),
      refreshDueTime(query, endpointId, at),
    ]);
  return fromEndpointRow(row);
}

async function remove(query: SqlWork, [endpointId, accountId]: EndpointKey, at: number): Promise<boolean> {
  const [removed] = await query('DELETE FROM webhook_endpoints WHERE id = $1 AND account_id = $2 RETURNING id', [
    endpointId,
    accountId,
  ]);
  if (removed === undefined) return false;
  await Promise.all([
    query(COUNT_DOWN, [accountId]),
    query('DELETE FROM webhook_secrets WHERE owner_id = $1', [endpointId]),
    query(LOCK_RECEIVER, [endpointId, at]),
    endPending(query, endpointId, 'endpoint_removed', at),
    query(REMOVE_RECEIVER, [endpointId]),
    refreshDueTime(query, endpointId, at),
  ]);
  return true;
}

/** In the order of INSERT. */
function toEndpointRow(endpoint: Endpoint): (string | number | null)[] {
  return [
    endpoint.id,
    endpoint.accountId,
    endpoint.name,
    endpoint.url,
    JSON.stringify(endpoint.eventTypes),
    endpoint.payload,
    endpoint.createdAt,
    endpoint.updatedAt,
    endpoint.disabled?.at ?? null,
    endpoint.disabled?.reason ?? null,
  ];
}
