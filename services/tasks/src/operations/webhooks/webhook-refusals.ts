import type { Problem } from '@reelgate/platform/problem';
import { webhookUrlFault, EVENT_TYPES, isEventType } from '../../domain/webhook.ts';
import type { EventType } from '../../domain/webhook.ts';
import { toRefusal } from '../task-refusals.ts';
import { refuse } from '../../refusals.ts';

const RETRY_MS = 1000;

/** Refuses the URL of a receiver that may not be called. The URL is undefined if the request names no receiver. */
export function assertWebhookUrl(allow: ReadonlySet<string>, url: string | undefined, field: string): void {
  const fault = url === undefined ? undefined : webhookUrlFault(url, field, allow);
  if (fault !== undefined) throw toRefusal(fault);
}

export const invalidRequest = (field: string, message: string): Problem =>
  refuse('invalid_request', { field, message });

export const endpointNotFound = (): Problem => refuse('webhook_endpoint_not_found');

export const deliveryNotFound = (): Problem => refuse('webhook_delivery_not_found');

export const tooManyEndpoints = (max: number): Problem =>
  refuse('webhook_endpoint_limit', { message: `an account has at most ${max} webhook endpoints; delete one first` });

export const endpointDisabled = (): Problem => refuse('webhook_endpoint_disabled');

/** Another rotation came first. Nothing was changed. */
export const rotationConflict = (): Problem =>
  refuse('service_unavailable', { message: 'this secret is being rotated already; try again', retryAfterMs: RETRY_MS });

export const notReached = (message: string): Problem => refuse('webhook_not_reached', { message });

const KNOWN = EVENT_TYPES.join(', ');

export function parseEventType(name: string, field: string): EventType {
  if (!isEventType(name)) throw invalidRequest(field, `must be one of ${KNOWN}`);
  return name;
}

/** The types without repeats. Refuses an unknown one, and a list without any. */
export function parseEventTypes(names: readonly string[], field: string): readonly EventType[] {
  if (names.length === 0 || !names.every(isEventType)) throw invalidRequest(field, `must hold one or more of ${KNOWN}`);
  return [...new Set(names)];
}
