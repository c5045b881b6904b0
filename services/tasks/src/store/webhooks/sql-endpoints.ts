import type { Sql, SqlQuery, SqlWork } from '@reelgate/platform/sql/sql';
import type { Endpoint, SealedSecret } from '../../domain/webhook.ts';
import { buildStatement } from '@reelgate/platform/sql/named-values';
import { findByIds, searchable, toInsert, toJson } from '../columns.ts';
import type { EndpointChange, EndpointSettingsStore, SecretStore } from '../webhook-store.ts';
import { endPending, refreshDueTime, resendPending } from './sql-receiver-due-times.ts';
import { ENDPOINT, HEALTH, SECRET } from './webhook-rows.ts';

const COUNT_UP = `INSERT INTO webhook_accounts (account_id, endpoints) VALUES ($1, 1)
  ON CONFLICT (account_id) DO UPDATE SET endpoints = webhook_accounts.endpoints + 1
  WHERE webhook_accounts.endpoints < $2 RETURNING account_id`;
const COUNT_DOWN = 'UPDATE webhook_accounts SET endpoints = endpoints - 1 WHERE account_id = $1';
/**
 * `enables` is 1 for a change that enables, 0 for one that disables, and null for any other. What is enabled is not
 * changed.
 */
const UPDATE = buildStatement<'id' | 'accountId' | 'name' | 'url' | 'eventTypes' | 'payload' | 'at' | 'enables'>(
  (of) => {
    const enables = `CAST(${of('enables')} AS INTEGER)`;
    return `UPDATE webhook_endpoints SET name = COALESCE(${of('name')}, name), url = COALESCE(${of('url')}, url),
    event_types_json = COALESCE(${of('eventTypes')}, event_types_json), payload = COALESCE(${of('payload')}, payload),
    disabled_reason = CASE ${enables} WHEN 1 THEN NULL WHEN 0 THEN COALESCE(disabled_reason, 'by_owner')
      ELSE disabled_reason END,
    disabled_at = CASE ${enables} WHEN 1 THEN NULL WHEN 0 THEN COALESCE(disabled_at, ${of('at')}) ELSE disabled_at END,
    updated_at = CASE
      WHEN COALESCE(${of('name')}, ${of('url')}, ${of('eventTypes')}, ${of('payload')}) IS NULL AND ${enables} = 1
        AND disabled_at IS NULL
      THEN updated_at ELSE ${of('at')} END
  WHERE id = ${of('id')} AND account_id = ${of('accountId')} RETURNING ${ENDPOINT.list}`;
  },
);
const FORGET_FAILURES = `UPDATE webhook_receivers
  SET failures = 0, failing_since = NULL, open_until = NULL, circuit = circuit + 1, updated_at = $2 WHERE id = $1`;
const LOCK_RECEIVER = 'UPDATE webhook_receivers SET updated_at = $2 WHERE id = $1';
/** A receiver with more pending deliveries than one statement ends stays until the last of them has ended. */
const REMOVE_RECEIVER = `DELETE FROM webhook_receivers WHERE id = $1
  AND NOT EXISTS (SELECT 1 FROM webhook_deliveries WHERE receiver_id = $1 AND due_at IS NOT NULL)`;
const findHealth = findByIds(HEALTH, 'webhook_receivers');

/** The endpoints of accounts. The receiver of an endpoint has its id. */
export function sqlEndpoints(sql: Sql): EndpointSettingsStore {
  return {
    addEndpoint: (endpoint, secret, max) =>
      sql.transaction(async (query) => {
        const counted = await query(COUNT_UP, [endpoint.accountId, max]);
        if (counted.length === 0) return false;
        await Promise.all([
          query(...toInsert('webhook_endpoints', ENDPOINT.write(endpoint))),
          insertSecret(query, secret),
        ]);
        return true;
      }),
    updateEndpoint: (accountId, endpointId, change) =>
      sql.transaction((query) => update(query, [searchable(endpointId), searchable(accountId)], change)),
    removeEndpoint: (accountId, endpointId, at) =>
      sql.transaction((query) => remove(query, [searchable(endpointId), searchable(accountId)], at)),
    findEndpoint: (accountId, endpointId) =>
      ENDPOINT.selectFirstFrom(sql.read, 'webhook_endpoints WHERE id = $1 AND account_id = $2', [
        searchable(endpointId),
        searchable(accountId),
      ]),
    listEndpoints: (accountId, { limit, after }) =>
      ENDPOINT.selectFrom(
        sql.read,
        `webhook_endpoints WHERE account_id = $1 AND ($2 = '' OR id < $2) ORDER BY id DESC LIMIT $3`,
        [searchable(accountId), searchable(after ?? ''), limit],
      ),
    readHealth: (endpointIds) => findHealth(sql.read, endpointIds),
  };
}

type EndpointKey = readonly [endpointId: string, accountId: string];

async function update(
  query: SqlWork,
  [endpointId, accountId]: EndpointKey,
  { name, url, eventTypes, payload, enabled, at }: EndpointChange,
): Promise<Endpoint | undefined> {
  const [row] = await query(
    ...UPDATE({
      id: endpointId,
      accountId,
      name: name ?? null,
      url: url ?? null,
      eventTypes: toJson(eventTypes),
      payload: payload ?? null,
      at,
      enables: enabled === undefined ? null : Number(enabled),
    }),
  );
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
  return ENDPOINT.read(row);
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

const findSecrets = findByIds(SECRET, 'webhook_secrets', 'owner_id');
const REPLACE = buildStatement<'ownerId' | 'sealed' | 'hint' | 'oldSealed' | 'oldUntil' | 'updatedAt' | 'was'>(
  (of) => `UPDATE webhook_secrets SET sealed = ${of('sealed')}, hint = ${of('hint')}, old_sealed = ${of('oldSealed')},
    old_until = ${of('oldUntil')}, updated_at = ${of('updatedAt')}
  WHERE owner_id = ${of('ownerId')} AND sealed = ${of('was')} RETURNING owner_id`,
);

/** The signing secrets, as they are sealed. */
export function sqlSecrets(sql: Sql): SecretStore {
  return {
    findSecrets: (ownerIds) => findSecrets(sql.read, ownerIds),
    addSecret: async (secret) => {
      const [, stored] = await sql.transaction((query) =>
        Promise.all([insertSecret(query, secret), findSecrets(query, [secret.ownerId])]),
      );
      return stored.get(secret.ownerId) ?? secret;
    },
    replaceSecret: async ({ ownerId, sealed, hint, old, updatedAt }, was) => {
      const [oldSealed, oldUntil] = [old?.sealed ?? null, old?.until ?? null];
      const statement = REPLACE({ ownerId, sealed, hint, oldSealed, oldUntil, updatedAt, was });
      return (await sql.write(...statement)).length > 0;
    },
    listSecrets: (after, limit) =>
      SECRET.selectFrom(sql.read, 'webhook_secrets WHERE owner_id > $1 ORDER BY owner_id LIMIT $2', [after, limit]),
  };
}

/** Writes a secret unless its owner has one. */
async function insertSecret(query: SqlQuery, secret: SealedSecret): Promise<void> {
  await query(...toInsert('webhook_secrets', SECRET.write(secret), 'ON CONFLICT (owner_id) DO NOTHING'));
}
