import { EVENT_TYPES, isEventType } from '../../domain/webhook.ts';
import type { EventType } from '../../domain/webhook.ts';
import { invalidRequest } from './webhook-refusals.ts';

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
