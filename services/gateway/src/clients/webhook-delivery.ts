import { deriveValues, deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import { WebhookDeliveryState as WireState } from '@reelgate/proto/tasks/v1/webhook';
import type { WebhookAttempt as WireAttempt, WebhookDelivery as WireDelivery } from '@reelgate/proto/tasks/v1/webhook';
import { toMs, requireValue, emptyToUndefined } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

export type DeliveryState = EnumWord<typeof WireState>;

export interface WebhookAttempt {
  readonly number: number;
  readonly at: number | undefined;
  readonly durationMs: number;
  /** The status of the answer, undefined if there was none. */
  readonly statusCode: number | undefined;
  /** The reason for the failure, undefined if the attempt succeeded. */
  readonly error: string | undefined;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly answerHead: string;
}

export interface WebhookDelivery {
  readonly id: string;
  readonly endpointId: string;
  readonly url: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly subjectId: string;
  readonly state: DeliveryState;
  readonly attemptCount: number;
  readonly lastStatusCode: number | undefined;
  readonly lastError: string | undefined;
  readonly createdAt: number | undefined;
  readonly nextAttemptAt: number | undefined;
  readonly endedAt: number | undefined;
  /** A list does not have them. */
  readonly attempts: readonly WebhookAttempt[];
}

export const WIRE_STATES = deriveValues(WireState);
const STATE_WORDS: Readonly<Record<number, DeliveryState | undefined>> = deriveWords(WireState);

export function fromWireDelivery(wire: WireDelivery | undefined): WebhookDelivery {
  const { state, lastStatusCode, lastError, createdAt, nextAttemptAt, endedAt, attempts, ...rest } = requireValue(wire);
  const { id, endpointId, url, eventId, eventType, subjectId, attemptCount } = rest;
  return {
    id,
    endpointId,
    url,
    eventId,
    eventType,
    subjectId,
    attemptCount,
    state: STATE_WORDS[state] ?? 'pending',
    lastStatusCode: lastStatusCode || undefined,
    lastError: emptyToUndefined(lastError),
    createdAt: toMs(createdAt),
    nextAttemptAt: toMs(nextAttemptAt),
    endedAt: toMs(endedAt),
    attempts: attempts.map(fromWireAttempt),
  } satisfies MessageMapping<WireDelivery>;
}

function fromWireAttempt(attempt: WireAttempt): WebhookAttempt {
  const { number, at, durationMs, statusCode, error, requestHeaders, answerHead } = attempt;
  return {
    number,
    requestHeaders,
    answerHead,
    at: toMs(at),
    durationMs: Number(durationMs),
    statusCode: statusCode || undefined,
    error: emptyToUndefined(error),
  } satisfies MessageMapping<WireAttempt>;
}
