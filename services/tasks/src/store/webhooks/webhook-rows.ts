import type { SqlRow, SqlValue } from '@reelgate/platform/sql/sql';
import type {
  Attempt,
  ClientEvent,
  Delivery,
  DeliveryState,
  DisabledReason,
  DispatchedEvent,
  Endpoint,
  EventOrigin,
  EventType,
  Health,
  Payload,
  SealedSecret,
} from '../../domain/webhook.ts';
import { optionalNumber, optionalText, text } from '../tasks/task-rows.ts';

export const ENDPOINT_COLUMNS = `id, account_id, name, url, event_types_json, payload, created_at, updated_at,
  disabled_at, disabled_reason`;
export const SECRET_COLUMNS = 'owner_id, account_id, sealed, hint, old_sealed, old_until, created_at, updated_at';
export const EVENT_COLUMNS = `id, account_id, type, subject_id, created_at, url, data_json, seq, request_id, trace,
  work_created_at`;
export const HEALTH_COLUMNS = 'failures, failing_since, open_until, last_success_at, last_failure_at';
/** An endpoint that is disabled hears nothing, and a circuit that is open lets nothing through. */
const NEXT_ATTEMPT_AT = `CASE WHEN e.disabled_at IS NOT NULL THEN NULL
    WHEN d.due_at IS NOT NULL AND r.open_until > d.due_at THEN r.open_until ELSE d.due_at END`;
/** Of a delivery to an endpoint, the URL is the one that the endpoint has now. */
export const SELECT_DELIVERY = `SELECT d.id, d.event_id, d.event_type, d.subject_id, d.receiver_id, d.endpoint_id,
    d.account_id, COALESCE(d.url, e.url) AS url, d.state, d.attempts, d.attempts_before, d.due_at, d.status, d.error,
    d.created_at, d.ended_at, ${NEXT_ATTEMPT_AT} AS next_attempt_at
  FROM webhook_deliveries AS d LEFT JOIN webhook_endpoints AS e ON e.id = d.endpoint_id
  LEFT JOIN webhook_receivers AS r ON r.id = d.receiver_id`;

export function fromEndpointRow(row: SqlRow): Endpoint {
  const at = optionalNumber(row['disabled_at']);
  const reason = text(row['disabled_reason']) as DisabledReason;
  return {
    id: text(row['id']),
    accountId: text(row['account_id']),
    name: text(row['name']),
    url: text(row['url']),
    eventTypes: JSON.parse(text(row['event_types_json'])) as EventType[],
    payload: text(row['payload']) as Payload,
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    disabled: at === undefined ? undefined : { at, reason },
  };
}

export function fromSecretRow(row: SqlRow): SealedSecret {
  const oldSealed = optionalText(row['old_sealed']);
  return {
    ownerId: text(row['owner_id']),
    accountId: text(row['account_id']),
    sealed: text(row['sealed']),
    hint: text(row['hint']),
    old: oldSealed === undefined ? undefined : { sealed: oldSealed, until: Number(row['old_until']) },
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
  };
}

/** In the order of SECRET_COLUMNS. */
export function toSecretRow(secret: SealedSecret): SqlValue[] {
  return [
    secret.ownerId,
    secret.accountId,
    secret.sealed,
    secret.hint,
    secret.old?.sealed ?? null,
    secret.old?.until ?? null,
    secret.createdAt,
    secret.updatedAt,
  ];
}

export function fromEventRow(row: SqlRow): ClientEvent {
  return {
    id: text(row['id']),
    accountId: text(row['account_id']),
    type: text(row['type']) as EventType,
    subjectId: text(row['subject_id']),
    createdAt: Number(row['created_at']),
    url: optionalText(row['url']),
    dataJson: optionalText(row['data_json']),
    origin: fromOriginColumns(row),
  };
}

function fromOriginColumns(row: SqlRow): EventOrigin | undefined {
  const createdAt = optionalNumber(row['work_created_at']);
  if (createdAt === undefined) return undefined;
  return { requestId: optionalText(row['request_id']), trace: optionalText(row['trace']), createdAt };
}

export function fromDispatchedRow(row: SqlRow): DispatchedEvent {
  return { ...fromEventRow(row), seq: Number(row['seq']) };
}

export function fromHealthRow(row: SqlRow): Health {
  return {
    failures: Number(row['failures']),
    failingSince: optionalNumber(row['failing_since']),
    openUntil: optionalNumber(row['open_until']),
    lastSuccessAt: optionalNumber(row['last_success_at']),
    lastFailureAt: optionalNumber(row['last_failure_at']),
  };
}

export function fromDeliveryRow(row: SqlRow): Delivery {
  return {
    id: text(row['id']),
    eventId: text(row['event_id']),
    eventType: text(row['event_type']) as EventType,
    subjectId: text(row['subject_id']),
    receiverId: text(row['receiver_id']),
    endpointId: text(row['endpoint_id']),
    accountId: text(row['account_id']),
    url: text(row['url']),
    state: text(row['state']) as DeliveryState,
    attempts: Number(row['attempts']),
    attemptsBefore: Number(row['attempts_before']),
    dueAt: optionalNumber(row['due_at']),
    nextAttemptAt: optionalNumber(row['next_attempt_at']),
    status: Number(row['status']),
    error: text(row['error']),
    createdAt: Number(row['created_at']),
    endedAt: optionalNumber(row['ended_at']),
  };
}

export function fromAttemptRow(row: SqlRow): Attempt {
  return {
    number: Number(row['number']),
    at: Number(row['at']),
    durationMs: Number(row['duration_ms']),
    status: Number(row['status']),
    error: text(row['error']),
    requestHeaders: JSON.parse(text(row['headers_json'])) as Record<string, string>,
    answerHead: text(row['answer_head']),
  };
}
