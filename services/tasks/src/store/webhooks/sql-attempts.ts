import { byRows, inChunks, parameters, rowValues, valueRows } from '@reelgate/platform/sql/multi-row';
import type { Sql, SqlQuery, SqlRow, SqlWork } from '@reelgate/platform/sql/sql';
import type { Attempt } from '../../domain/webhook.ts';
import { text } from '../tasks/task-rows.ts';
import type { AttemptRecord, DeliveryStore, ReceiverRecord } from '../webhook-store.ts';
import { endPending, returnLease, hurryPending } from './sql-receiver-due-times.ts';

/** An endpoint's row is locked before that of its receiver. */
const LOCK_ENDPOINT = 'UPDATE webhook_endpoints SET updated_at = updated_at WHERE id = $1';
const WRITE_HEALTH = `UPDATE webhook_receivers SET failures = $3, failing_since = $4, open_until = $5,
    last_success_at = $6, last_failure_at = $7, updated_at = $8, circuit = $9
  WHERE id = $1 AND lease = $2 RETURNING id`;
const FIND = byRows(
  (rows) => `SELECT id, receiver_id, state, attempts, due_at, status, error, ended_at FROM webhook_deliveries
    WHERE id IN (${parameters(rows)})`,
);
const FIND_ATTEMPTS = byRows(
  (rows) => `SELECT delivery_id, at, duration_ms FROM webhook_attempts WHERE delivery_id IN (${parameters(rows)})`,
);
const INSERT_ATTEMPTS = byRows(
  (rows) => `INSERT INTO webhook_attempts
    (delivery_id, number, at, duration_ms, status, error, headers_json, answer_head)
    VALUES ${valueRows(rows, 8)} ON CONFLICT DO NOTHING`,
);
const UPDATE_TYPES = ['TEXT', 'TEXT', 'INTEGER', 'BIGINT', 'INTEGER', 'TEXT', 'BIGINT'];
const UPDATE_DELIVERIES = byRows(
  (rows) => `UPDATE webhook_deliveries SET state = v.column2, attempts = v.column3, due_at = v.column4,
    status = v.column5, error = v.column6, ended_at = v.column7
    FROM (VALUES ${valueRows(rows, UPDATE_TYPES.length, { casts: UPDATE_TYPES })}) AS v
    WHERE webhook_deliveries.id = v.column1`,
);
const DISABLE = `UPDATE webhook_endpoints SET disabled_at = $2, disabled_reason = $3, updated_at = $2
  WHERE id = $1 AND disabled_at IS NULL`;

/** A delivery as far as attempts change it. */
interface DeliveryProgress {
  readonly id: string;
  readonly receiverId: string;
  state: string;
  attempts: number;
  dueAt: number | null;
  status: number;
  error: string;
  endedAt: number | null;
}

type NumberedAttempt = Attempt & { readonly deliveryId: string };

/** The attempts that workers made under their leases. */
export function sqlAttempts(sql: Sql): Pick<DeliveryStore, 'recordAttempts'> {
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
      ...records.map((record) => query(WRITE_HEALTH, healthRow(record))),
    ]).then((answers) => new Set(answers.flat().map((row) => text(row['id'])))),
    findDeliveries(query, records),
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

/** In the order of WRITE_HEALTH. */
function healthRow({ receiverId, lease, health, circuit, at }: ReceiverRecord): (string | number | null)[] {
  return [
    receiverId,
    lease,
    health.failures,
    health.failingSince ?? null,
    health.openUntil ?? null,
    health.lastSuccessAt ?? null,
    health.lastFailureAt ?? null,
    at,
    circuit,
  ];
}

async function findDeliveries(
  query: SqlQuery,
  records: readonly ReceiverRecord[],
): Promise<ReadonlyMap<string, DeliveryProgress>> {
  const ids = [...new Set(records.flatMap(({ attempts }) => attempts.map(({ deliveryId }) => deliveryId)))];
  const pages = await Promise.all(inChunks(ids).map((chunk) => query(FIND(chunk.length), chunk)));
  return new Map(pages.flat().map((row) => [text(row['id']), fromProgressRow(row)]));
}

function fromProgressRow(row: SqlRow): DeliveryProgress {
  return {
    id: text(row['id']),
    receiverId: text(row['receiver_id']),
    state: text(row['state']),
    attempts: Number(row['attempts']),
    dueAt: row['due_at'] === null ? null : Number(row['due_at']),
    status: Number(row['status']),
    error: text(row['error']),
    endedAt: row['ended_at'] === null ? null : Number(row['ended_at']),
  };
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
    pages
      .flat()
      .map((row) =>
        toAttemptKey(text(row['delivery_id']), { at: Number(row['at']), durationMs: Number(row['duration_ms']) }),
      ),
  );
}

function toAttemptKey(deliveryId: string, { at, durationMs }: Pick<Attempt, 'at' | 'durationMs'>): string {
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
    if (delivery?.receiverId !== receiverId || known.has(toAttemptKey(delivery.id, record.attempt))) return [];
    delivery.attempts += 1;
    if (delivery.state === 'pending') advance(delivery, record, at);
    return [{ ...record.attempt, deliveryId: delivery.id, number: delivery.attempts }];
  });
}

function advance(delivery: DeliveryProgress, { state, dueAt, attempt }: AttemptRecord, at: number): void {
  Object.assign(delivery, {
    state,
    status: attempt.status,
    error: attempt.error,
    dueAt: state === 'pending' ? (dueAt ?? at) : null,
    endedAt: state === 'pending' ? null : at,
  });
}

function insertAttempts(query: SqlWork, made: readonly NumberedAttempt[]): readonly Promise<unknown>[] {
  return inChunks(made).map((chunk) =>
    query.changes(
      INSERT_ATTEMPTS(chunk.length),
      rowValues([], chunk, (one) => [
        one.deliveryId,
        one.number,
        one.at,
        one.durationMs,
        one.status,
        one.error,
        JSON.stringify(one.requestHeaders),
        one.answerHead,
      ]),
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
      rowValues([], chunk, (one) => [one.id, one.state, one.attempts, one.dueAt, one.status, one.error, one.endedAt]),
    ),
  );
}

/** Writes what follows when the attempts of a record are written. */
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
