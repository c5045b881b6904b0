import { byRows, inChunks, parameters, rowValues, valueRows } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlQuery, SqlRow, SqlStatement, SqlValue, SqlWork } from '@reelgate/platform/sql/sql';
import { DEFAULT_ENDPOINT } from '../../domain/webhook.ts';
import type { JudgedAttempt } from '../../domain/rules/judge-attempts.ts';
import type { Attempt, Endpoint, Health } from '../../domain/webhook.ts';
import { buildStatement } from '@reelgate/platform/sql/named-values';
import {
  findByIds,
  inNumber,
  inOptionalNumber,
  inText,
  insertMany,
  readChunks,
  recordColumns,
  selectNumber,
  text,
} from '../columns.ts';
import type {
  AttemptRecorder,
  LeasedReceiver,
  ReceiverLease,
  ReceiverLeaseStore,
  ReceiverRecord,
} from '../webhook-store.ts';
import { endPending, hurryPending, returnLease } from './sql-receiver-due-times.ts';
import { ATTEMPT, DELIVERY, ENDPOINT, HEALTH, SELECT_DELIVERY } from './webhook-rows.ts';

/** Candidates for each wanted receiver, because other workers may take the first ones at the same moment. */
const CANDIDATES = 8;
/** Due receivers that a lease considers. Sixty accounts at their limit have this many. */
const CONSIDERED_MAX = 2000;

const RECEIVER_COLUMNS = `id, account_id, endpoint_id, lease, circuit, ${HEALTH.list}`;
/** The due time of a leased receiver is the end of its lease. */
const buildIsDue = (now: string): string =>
  `due_at IS NOT NULL AND due_at <= ${now} AND (open_until IS NULL OR open_until <= ${now})`;
const IS_ORIGIN = `CASE WHEN endpoint_id = '${DEFAULT_ENDPOINT}' THEN 1 ELSE 0 END`;
const ANY_DUE = `SELECT id FROM webhook_receivers
  WHERE ${buildIsDue('$1')} ORDER BY due_at LIMIT 1`;
type NextName = 'now' | 'perAccount' | 'originsPerAccount' | 'limit' | 'candidates';
/**
 * The next receivers: one of each account after the other, counting the leased receivers of the account, and for an
 * account the receiver that has waited longest. Only those that have waited longest of all are considered. Origins that
 * requests name have a part of the share of their account, so that its endpoints have the rest.
 */
const buildNextReceivers = (of: (name: NextName) => string): string => `
  WITH leased AS (
    SELECT account_id, COUNT(*) AS held, SUM(${IS_ORIGIN}) AS origins FROM webhook_receivers
    WHERE lease_until IS NOT NULL AND lease_until > ${of('now')} GROUP BY account_id
  ),
  longest AS (
    SELECT id, account_id, due_at, ${IS_ORIGIN} AS is_origin FROM webhook_receivers
    WHERE ${buildIsDue(of('now'))} AND account_id NOT IN (SELECT account_id FROM leased WHERE held >= ${of('perAccount')})
      AND (endpoint_id <> '${DEFAULT_ENDPOINT}'
        OR account_id NOT IN (SELECT account_id FROM leased WHERE origins >= ${of('originsPerAccount')}))
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
    WHERE alike.is_origin = 0 OR alike.ordinal + COALESCE(leased.origins, 0) <= ${of('originsPerAccount')}
  ),
  fair AS (
    SELECT due.id, due.due_at, due.ordinal + COALESCE(leased.held, 0) AS fair_rank
    FROM due LEFT JOIN leased ON leased.account_id = due.account_id
    WHERE due.ordinal + COALESCE(leased.held, 0) <= ${of('perAccount')}
    ORDER BY fair_rank, due.due_at LIMIT ${of('candidates')}
  )
  SELECT webhook_receivers.id FROM fair JOIN webhook_receivers ON webhook_receivers.id = fair.id
  WHERE webhook_receivers.due_at IS NOT NULL AND webhook_receivers.due_at <= ${of('now')}
  ORDER BY fair.fair_rank, fair.due_at LIMIT ${of('limit')}`;
const DUE_DELIVERIES = `${SELECT_DELIVERY}
  WHERE d.receiver_id = $1 AND d.due_at IS NOT NULL AND d.due_at <= $2 ORDER BY d.due_at, d.id LIMIT $3`;
const findEndpoints = findByIds(ENDPOINT, 'webhook_endpoints');
const FIND_RECEIVERS = byRows(
  (rows) => `SELECT ${RECEIVER_COLUMNS} FROM webhook_receivers
    WHERE lease IS NOT NULL AND id IN (${parameters(rows)})`,
);
const RENEW = `UPDATE webhook_receivers SET lease_until = $3, due_at = $3
  WHERE id = $1 AND lease = $2 RETURNING id`;
/** A receiver without a due delivery is given back by the next lease. */
const END_ALL = 'UPDATE webhook_receivers SET lease = NULL, lease_until = NULL, due_at = $1 WHERE lease IS NOT NULL';

type TakeNext = (values: Readonly<Record<NextName | 'lease' | 'until' | 'worker', SqlValue>>) => SqlStatement;

type Receiver = Omit<LeasedReceiver, 'deliveries'>;

/** The leases of receivers: the worker that has a receiver, and the end of its lease. */
export function sqlLeasedReceivers(sql: Sql): ReceiverLeaseStore {
  const takeNext: TakeNext = buildStatement(
    (of) => `UPDATE webhook_receivers SET lease = ${of('lease')}, lease_until = ${of('until')},
        due_at = ${of('until')}, worker = ${of('worker')}
      WHERE id IN (${buildNextReceivers(of)} ${sql.skipLocked}) RETURNING ${RECEIVER_COLUMNS}`,
  );
  return {
    findFirstDue: () =>
      selectNumber(sql.read, 'due_at', 'webhook_receivers WHERE due_at IS NOT NULL ORDER BY due_at LIMIT 1'),
    leaseReceivers: async (options) => {
      if ((await sql.read(ANY_DUE, [options.now])).length === 0) return [];
      return sql.commitUnsynced((query) => leaseReceivers(query, takeNext, options));
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
      const rows = await readChunks(sql.read, FIND_RECEIVERS, [...names.keys()]);
      const held = rows.filter((row) => names.get(text(row['id'])) === row['lease']);
      const endpoints = await findEndpoints(sql.read, listEndpointIds(held));
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
  takeNext: TakeNext,
  { now, deliveries, failuresMax, ...options }: Parameters<ReceiverLeaseStore['leaseReceivers']>[0],
): Promise<readonly LeasedReceiver[]> {
  const rows = await query(...takeNext({ ...options, now, candidates: options.limit * CANDIDATES }));
  if (rows.length === 0) return [];
  const [endpoints, ...due] = await Promise.all([
    findEndpoints(query, listEndpointIds(rows)),
    ...rows.map((row) =>
      query(DUE_DELIVERIES, [text(row['id']), now, Number(row['failures']) >= failuresMax ? 1 : deliveries]),
    ),
  ]);
  const receivers = rows.map((row, index) => ({
    ...fromReceiverRow(row, endpoints),
    deliveries: (due[index] ?? []).map(DELIVERY.read),
  }));
  const returned = await Promise.all(receivers.map((receiver) => returnUnusable(query, receiver, now)));
  return receivers.filter((_receiver, index) => returned[index] === false);
}

/** Releases a receiver with an endpoint that has no subscription any more, or without a due delivery. */
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

function listEndpointIds(receivers: readonly SqlRow[]): readonly string[] {
  return receivers.map((row) => text(row['endpoint_id'])).filter((id) => id !== DEFAULT_ENDPOINT);
}

function fromReceiverRow(row: SqlRow, endpoints: ReadonlyMap<string, Endpoint>): Receiver {
  const endpointId = text(row['endpoint_id']);
  return {
    id: text(row['id']),
    accountId: text(row['account_id']),
    endpointId,
    lease: text(row['lease']),
    health: HEALTH.read(row),
    circuit: Number(row['circuit']),
    endpoint: endpoints.get(endpointId),
  };
}

/** A delivery as far as attempts change it. */
interface DeliveryProgress {
  readonly id: string;
  readonly receiverId: string;
  state: string;
  attempts: number;
  dueAt: number | undefined;
  status: number;
  error: string;
  endedAt: number | undefined;
}

const PROGRESS = recordColumns<DeliveryProgress>({
  id: inText('id'),
  receiverId: inText('receiver_id'),
  state: inText('state'),
  attempts: inNumber('attempts'),
  dueAt: inOptionalNumber('due_at'),
  status: inNumber('status'),
  error: inText('error'),
  endedAt: inOptionalNumber('ended_at'),
});

/** An endpoint's row is locked before the row of its receiver. */
const LOCK_ENDPOINT = 'UPDATE webhook_endpoints SET updated_at = updated_at WHERE id = $1';
const WRITE_HEALTH = buildStatement<keyof Health | 'receiverId' | 'lease' | 'circuit' | 'at'>(
  (of) => `UPDATE webhook_receivers SET failures = ${of('failures')}, failing_since = ${of('failingSince')},
    open_until = ${of('openUntil')}, last_success_at = ${of('lastSuccessAt')}, last_failure_at = ${of('lastFailureAt')},
    updated_at = ${of('at')}, circuit = ${of('circuit')}
  WHERE id = ${of('receiverId')} AND lease = ${of('lease')} RETURNING id`,
);
const findProgress = findByIds(PROGRESS, 'webhook_deliveries');
const FIND_ATTEMPTS = byRows(
  (rows) => `SELECT delivery_id, at, duration_ms FROM webhook_attempts WHERE delivery_id IN (${parameters(rows)})`,
);
const INSERT_ATTEMPTS = insertMany('webhook_attempts', ['delivery_id', ...ATTEMPT.names], 'ON CONFLICT DO NOTHING');
/** The columns that an attempt changes, with their types. */
const CHANGED = {
  id: 'TEXT',
  state: 'TEXT',
  attempts: 'INTEGER',
  due_at: 'BIGINT',
  status: 'INTEGER',
  error: 'TEXT',
  ended_at: 'BIGINT',
};
const CHANGED_NAMES = Object.keys(CHANGED);
const UPDATE_DELIVERIES = byRows(
  (rows) => `UPDATE webhook_deliveries
    SET ${CHANGED_NAMES.flatMap((name, at) => (name === 'id' ? [] : [`${name} = v.column${at + 1}`])).join(', ')}
    FROM (VALUES ${valueRows(rows, CHANGED_NAMES.length, { casts: Object.values(CHANGED) })}) AS v
    WHERE webhook_deliveries.id = v.column1`,
);
const DISABLE = `UPDATE webhook_endpoints SET disabled_at = $2, disabled_reason = $3, updated_at = $2
  WHERE id = $1 AND disabled_at IS NULL`;

type NumberedAttempt = Attempt & { readonly deliveryId: string };

/** The attempts of workers under their leases. */
export function sqlAttempts(sql: Sql): AttemptRecorder {
  return {
    recordAttempts: async (records) => {
      if (records.length === 0) return [];
      const inOrder = records.toSorted((one, other) => (one.receiverId < other.receiverId ? -1 : 1));
      return sql.commitUnsynced((query) => recordAll(query, inOrder));
    },
  };
}

async function recordAll(query: SqlWork, records: readonly ReceiverRecord[]): Promise<readonly string[]> {
  const disabling = records.filter(({ disable }) => disable !== undefined);
  const [held, deliveries] = await Promise.all([
    Promise.all([
      ...disabling.map(({ receiverId }) => query(LOCK_ENDPOINT, [receiverId])),
      ...records.map((record) => query(...writeHealth(record))),
    ]).then((answers) => new Set(answers.flat().map((row) => text(row['id'])))),
    findProgress(query, listDeliveryIds(records)),
  ]);
  const live = records.filter(({ receiverId }) => held.has(receiverId));
  const known = await findKnownAttempts(query, live, deliveries);
  const made = live.flatMap((record) => applyAttempts(record, deliveries, known));
  await Promise.all([
    ...insertAttempts(query, made),
    ...updateDeliveries(query, [...new Set(made.map(({ deliveryId }) => deliveryId))], deliveries),
    ...live.flatMap((record) => writeConsequences(query, record)),
  ]);
  return records.flatMap(({ receiverId }) => (held.has(receiverId) ? [] : [receiverId]));
}

function writeHealth({ receiverId, lease, health, circuit, at }: ReceiverRecord): SqlStatement {
  return WRITE_HEALTH({
    receiverId,
    lease,
    circuit,
    at,
    failures: health.failures,
    failingSince: health.failingSince ?? null,
    openUntil: health.openUntil ?? null,
    lastSuccessAt: health.lastSuccessAt ?? null,
    lastFailureAt: health.lastFailureAt ?? null,
  });
}

function listDeliveryIds(records: readonly ReceiverRecord[]): readonly string[] {
  return [...new Set(records.flatMap(({ attempts }) => attempts.map(({ deliveryId }) => deliveryId)))];
}

/** The attempts of deliveries that have one with such a number: a record may come twice. */
async function findKnownAttempts(
  query: SqlQuery,
  records: readonly ReceiverRecord[],
  deliveries: ReadonlyMap<string, DeliveryProgress>,
): Promise<ReadonlySet<string>> {
  const ids = records.flatMap(({ attempts }) =>
    attempts.flatMap(({ deliveryId, attempt }) =>
      attempt.number <= (deliveries.get(deliveryId)?.attempts ?? 0) ? [deliveryId] : [],
    ),
  );
  const pages = await Promise.all(inChunks(ids).map((chunk) => query(FIND_ATTEMPTS(chunk.length), chunk)));
  return new Set(
    pages.flat().map((row) => toAttemptKey(text(row['delivery_id']), Number(row['at']), Number(row['duration_ms']))),
  );
}

function toAttemptKey(deliveryId: string, at: number, durationMs: number): string {
  return `${deliveryId} ${at} ${durationMs}`;
}

/** Applies the attempts of a record to its deliveries, and gives each its number. */
function applyAttempts(
  { receiverId, attempts, at }: ReceiverRecord,
  deliveries: ReadonlyMap<string, DeliveryProgress>,
  known: ReadonlySet<string>,
): readonly NumberedAttempt[] {
  return attempts.flatMap((record) => {
    const delivery = deliveries.get(record.deliveryId);
    if (
      delivery?.receiverId !== receiverId ||
      known.has(toAttemptKey(delivery.id, record.attempt.at, record.attempt.durationMs))
    )
      return [];
    delivery.attempts += 1;
    if (delivery.state === 'pending') advance(delivery, record, at);
    return [{ ...record.attempt, deliveryId: delivery.id, number: delivery.attempts }];
  });
}

function advance(delivery: DeliveryProgress, { state, dueAt, attempt }: JudgedAttempt, at: number): void {
  Object.assign(delivery, {
    state,
    status: attempt.status,
    error: attempt.error,
    dueAt: state === 'pending' ? (dueAt ?? at) : undefined,
    endedAt: state === 'pending' ? undefined : at,
  });
}

function insertAttempts(query: SqlWork, made: readonly NumberedAttempt[]): readonly Promise<unknown>[] {
  return inChunks(made).map((chunk) =>
    query.changes(
      ...INSERT_ATTEMPTS(
        chunk.map(({ deliveryId, ...attempt }) => ({ delivery_id: deliveryId, ...ATTEMPT.write(attempt) })),
      ),
    ),
  );
}

function updateDeliveries(
  query: SqlWork,
  ids: readonly string[],
  deliveries: ReadonlyMap<string, DeliveryProgress>,
): readonly Promise<unknown>[] {
  return inChunks(ids.flatMap((id) => deliveries.get(id) ?? [])).map((chunk) =>
    query.changes(
      UPDATE_DELIVERIES(chunk.length),
      rowValues([], chunk.map(PROGRESS.write), (row) => CHANGED_NAMES.map((name) => row[name] ?? null)),
    ),
  );
}

/** Writes the consequences of the attempts of a record, after the attempts themselves. */
function writeConsequences(
  query: SqlWork,
  { receiverId, disable, hasRecovered, returned, at }: ReceiverRecord,
): readonly Promise<unknown>[] {
  return [
    ...(disable === undefined
      ? []
      : [query(DISABLE, [receiverId, at, disable]), endPending(query, receiverId, 'endpoint_disabled', at)]),
    ...(hasRecovered ? [hurryPending(query, receiverId, at)] : []),
    ...(returned ? [returnLease(query, receiverId, at)] : []),
  ];
}
