import { inColumns, inJson, inNumber, inOptionalNumber, inOptionalText, inText, recordColumns } from '../columns.ts';
import type { Fields } from '../columns.ts';
import type {
  Attempt,
  ClientEvent,
  Delivery,
  DispatchedEvent,
  Endpoint,
  EventOrigin,
  Health,
  SealedSecret,
} from '../../domain/webhook.ts';

export const ENDPOINT = recordColumns<Endpoint>({
  id: inText('id'),
  accountId: inText('account_id'),
  name: inText('name'),
  url: inText('url'),
  eventTypes: inJson('event_types_json'),
  payload: inText('payload'),
  createdAt: inNumber('created_at'),
  updatedAt: inNumber('updated_at'),
  disabled: inColumns(
    recordColumns<NonNullable<Endpoint['disabled']>>({
      at: inNumber('disabled_at'),
      reason: inText('disabled_reason'),
    }),
    'disabled_at',
  ),
});

export const SECRET = recordColumns<SealedSecret>({
  ownerId: inText('owner_id'),
  accountId: inText('account_id'),
  sealed: inText('sealed'),
  hint: inText('hint'),
  old: inColumns(
    recordColumns<NonNullable<SealedSecret['old']>>({ sealed: inText('old_sealed'), until: inNumber('old_until') }),
    'old_sealed',
  ),
  createdAt: inNumber('created_at'),
  updatedAt: inNumber('updated_at'),
});

const EVENT_FIELDS: Fields<ClientEvent> = {
  id: inText('id'),
  accountId: inText('account_id'),
  type: inText('type'),
  subjectId: inText('subject_id'),
  createdAt: inNumber('created_at'),
  url: inOptionalText('url'),
  dataJson: inOptionalText('data_json'),
  origin: inColumns(
    recordColumns<EventOrigin>({
      requestId: inOptionalText('request_id'),
      trace: inOptionalText('trace'),
      createdAt: inNumber('work_created_at'),
    }),
    'work_created_at',
  ),
};

export const EVENT = recordColumns(EVENT_FIELDS);
export const DISPATCHED = recordColumns<DispatchedEvent>({ ...EVENT_FIELDS, seq: inNumber('seq') });

export const HEALTH = recordColumns<Health>({
  failures: inNumber('failures'),
  failingSince: inOptionalNumber('failing_since'),
  openUntil: inOptionalNumber('open_until'),
  lastSuccessAt: inOptionalNumber('last_success_at'),
  lastFailureAt: inOptionalNumber('last_failure_at'),
});

export const DELIVERY = recordColumns<Delivery>({
  id: inText('id'),
  eventId: inText('event_id'),
  eventType: inText('event_type'),
  subjectId: inText('subject_id'),
  receiverId: inText('receiver_id'),
  endpointId: inText('endpoint_id'),
  accountId: inText('account_id'),
  url: inText('url'),
  state: inText('state'),
  attempts: inNumber('attempts'),
  attemptsBefore: inNumber('attempts_before'),
  dueAt: inOptionalNumber('due_at'),
  nextAttemptAt: inOptionalNumber('next_attempt_at'),
  status: inNumber('status'),
  error: inText('error'),
  createdAt: inNumber('created_at'),
  endedAt: inOptionalNumber('ended_at'),
});

export const ATTEMPT = recordColumns<Attempt>({
  number: inNumber('number'),
  at: inNumber('at'),
  durationMs: inNumber('duration_ms'),
  status: inNumber('status'),
  error: inText('error'),
  requestHeaders: inJson('headers_json'),
  answerHead: inText('answer_head'),
});

/** An endpoint that is disabled gets no delivery, and a circuit that is open lets no attempt through. */
const NEXT_ATTEMPT_AT = `CASE WHEN e.disabled_at IS NOT NULL THEN NULL
    WHEN d.due_at IS NOT NULL AND r.open_until > d.due_at THEN r.open_until ELSE d.due_at END`;
const COMPUTED: Readonly<Record<string, string>> = {
  url: 'COALESCE(d.url, e.url) AS url',
  next_attempt_at: `${NEXT_ATTEMPT_AT} AS next_attempt_at`,
};
/** Of a delivery to an endpoint, the URL is the one that the endpoint has now. */
export const SELECT_DELIVERY = `SELECT ${DELIVERY.names.map((name) => COMPUTED[name] ?? `d.${name}`).join(', ')}
  FROM webhook_deliveries AS d LEFT JOIN webhook_endpoints AS e ON e.id = d.endpoint_id
  LEFT JOIN webhook_receivers AS r ON r.id = d.receiver_id`;
