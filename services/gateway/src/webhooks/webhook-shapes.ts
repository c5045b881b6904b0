import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import { WebhookDeliveryState, WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import type { WebhookAttempt, WebhookDelivery, WebhookEndpoint } from '@reelgate/proto/tasks/v1/webhook';
import type { EndpointWithSecret } from '../clients/webhooks-client.ts';
import { pageSchema } from '../dialects/wire/list-page.ts';
import { toUnixSeconds } from '../dialects/wire/task-fields.ts';
import { objectSchema } from '../domain/schema.ts';
import type { Properties, TypeOf } from '../domain/schema.ts';
import { EVENT_TYPE } from './webhook-bodies.ts';

const text = { type: 'string' } as const;
const whole = { type: 'integer' } as const;
const orNull = <const T extends 'string' | 'integer'>(type: T, description: string) =>
  ({ type: [type, 'null'], description }) as const;

const endpoint = {
  id: text,
  object: { const: 'webhook_endpoint' },
  name: text,
  url: { ...text, description: 'Empty for `default`: its URLs come with requests.' },
  event_types: { type: 'array', items: EVENT_TYPE },
  payload: { enum: ['thin', 'full'] },
  signing_secret_hint: orNull('string', 'The first and the last characters of the signing secret.'),
  created_at: orNull('integer', 'Unix seconds; null for a `default` that has no secret yet.'),
  updated_at: orNull('integer', 'Unix seconds of the last change of its settings or its secret.'),
  status: { enum: ['enabled', 'disabled'] },
  disabled_reason: orNull('string', '`gone`: it answered 410. `failing`: nothing but failures. `by_owner`.'),
  disabled_at: orNull('integer', 'Unix seconds.'),
  failing_since: orNull('integer', 'Unix seconds since which every delivery fails.'),
  last_success_at: orNull('integer', 'Unix seconds.'),
  last_failure_at: orNull('integer', 'Unix seconds.'),
} as const satisfies Properties;

const attempt = {
  title: 'WebhookAttempt',
  ...objectSchema({
    number: { ...whole, description: 'Counts from 1.' },
    created_at: orNull('integer', 'Unix seconds at which it began.'),
    duration_ms: whole,
    status_code: orNull('integer', 'The HTTP status; null if there was no answer.'),
    error: orNull('string', 'Why it failed, such as `timeout` or `redirect`.'),
    request_headers: { type: 'object', additionalProperties: text, description: 'Without the signature.' },
    response_head: { ...text, description: 'The first 2 KiB of the answer.' },
  }),
} as const;

const delivery = {
  id: text,
  object: { const: 'webhook_delivery' },
  webhook_endpoint_id: { ...text, description: '`default`: the request carried the URL.' },
  url: text,
  event_id: { ...text, description: 'The header `webhook-id` of every attempt.' },
  event_type: text,
  subject_id: { ...text, description: 'The id of the task, the call or the account.' },
  state: { enum: ['pending', 'delivered', 'failed'] },
  attempt_count: whole,
  last_status_code: orNull('integer', 'The HTTP status of the last attempt.'),
  last_error: orNull('string', 'Why the last attempt failed, or why the delivery was given up.'),
  created_at: orNull('integer', 'Unix seconds.'),
  next_attempt_at: orNull(
    'integer',
    'Unix seconds. No attempt is made earlier; once it has passed, the delivery waits for its turn. Null: none follows.',
  ),
  ended_at: orNull('integer', 'Unix seconds.'),
} as const satisfies Properties;

const endpointSchema = { title: 'WebhookEndpoint', ...objectSchema(endpoint) } as const;
const listedDeliverySchema = { title: 'ListedWebhookDelivery', ...objectSchema(delivery) } as const;

/** The answers of the routes. The endpoint routes have the shapes of OpenAI's, with fields added. */
export const WEBHOOK_ANSWERS = {
  endpoint: endpointSchema,
  endpointWithSecret: {
    title: 'WebhookEndpointWithSecret',
    ...objectSchema({
      ...endpoint,
      signing_secret: { ...text, description: 'No other answer has it: store it now.' },
    }),
  },
  endpoints: pageSchema('WebhookEndpointPage', endpointSchema),
  deleted: {
    title: 'DeletedWebhookEndpoint',
    ...objectSchema({ id: text, object: { const: 'webhook_endpoint.deleted' }, deleted: { const: true } }),
  },
  test: {
    title: 'WebhookEndpointTestResult',
    ...objectSchema({
      object: { const: 'webhook_endpoint.test' },
      webhook_endpoint_id: text,
      event_type: EVENT_TYPE,
      success: { const: true, description: 'The receiver answered; `status_code` says how.' },
      status_code: whole,
    }),
  },
  eventTypes: {
    title: 'WebhookEventTypes',
    ...objectSchema({ object: { const: 'list' }, data: { type: 'array', items: EVENT_TYPE } }),
  },
  delivery: {
    title: 'WebhookDelivery',
    ...objectSchema({ ...delivery, attempts: { type: 'array', items: attempt } }),
  },
  deliveries: pageSchema('WebhookDeliveryPage', listedDeliverySchema),
  resent: {
    title: 'WebhookResent',
    ...objectSchema({
      object: { const: 'webhook_endpoint.resent' },
      webhook_endpoint_id: text,
      resent: { ...whole, description: 'How many deliveries are due again, at most 1000 for one request.' },
      has_more: { type: 'boolean', description: 'True if there can be more: send the request again.' },
    }),
  },
} as const;

/** A newer tasks service can have further values, which have no word here. */
const STATES: Readonly<Record<number, Answers['delivery']['state'] | undefined>> = deriveWords(WebhookDeliveryState);
const PAYLOADS: Readonly<Record<number, Answers['endpoint']['payload'] | undefined>> = deriveWords(WebhookPayload);

type Answers = { readonly [Name in keyof typeof WEBHOOK_ANSWERS]: TypeOf<(typeof WEBHOOK_ANSWERS)[Name]> };

export function encodeEndpoint(shown: WebhookEndpoint): Answers['endpoint'] {
  return {
    id: shown.id,
    object: 'webhook_endpoint',
    name: shown.name,
    url: shown.url,
    event_types: shown.eventTypes,
    payload: PAYLOADS[shown.payload] ?? 'thin',
    signing_secret_hint: shown.secretHint || null,
    created_at: toUnixSeconds(shown.createdAt) ?? null,
    updated_at: toUnixSeconds(shown.updatedAt) ?? null,
    status: shown.disabledAt === undefined ? 'enabled' : 'disabled',
    disabled_reason: shown.disabledReason || null,
    disabled_at: toUnixSeconds(shown.disabledAt) ?? null,
    failing_since: toUnixSeconds(shown.failingSince) ?? null,
    last_success_at: toUnixSeconds(shown.lastSuccessAt) ?? null,
    last_failure_at: toUnixSeconds(shown.lastFailureAt) ?? null,
  };
}

export function encodeWithSecret({ endpoint: shown, secret }: EndpointWithSecret): Answers['endpointWithSecret'] {
  return { ...encodeEndpoint(shown), signing_secret: secret.reveal() };
}

export function encodeDelivery(shown: WebhookDelivery): Answers['delivery'] {
  return { ...encodeListedDelivery(shown), attempts: shown.attempts.map(encodeAttempt) };
}

/** A list does not have the attempts. */
export function encodeListedDelivery(shown: WebhookDelivery): TypeOf<typeof listedDeliverySchema> {
  return {
    id: shown.id,
    object: 'webhook_delivery',
    webhook_endpoint_id: shown.endpointId,
    url: shown.url,
    event_id: shown.eventId,
    event_type: shown.eventType,
    subject_id: shown.subjectId,
    state: STATES[shown.state] ?? 'pending',
    attempt_count: shown.attemptCount,
    last_status_code: shown.lastStatusCode || null,
    last_error: shown.lastError || null,
    created_at: toUnixSeconds(shown.createdAt) ?? null,
    next_attempt_at: toUnixSeconds(shown.nextAttemptAt) ?? null,
    ended_at: toUnixSeconds(shown.endedAt) ?? null,
  };
}

function encodeAttempt(shown: WebhookAttempt): TypeOf<typeof attempt> {
  return {
    number: shown.number,
    created_at: toUnixSeconds(shown.at) ?? null,
    duration_ms: Number(shown.durationMs),
    status_code: shown.statusCode || null,
    error: shown.error || null,
    request_headers: shown.requestHeaders,
    response_head: shown.answerHead,
  };
}
