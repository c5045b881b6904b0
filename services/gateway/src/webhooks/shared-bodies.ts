import type { ClientEvent } from '../clients/client-event.ts';
import type { EventBody, Payload } from './event-body.ts';

/** A larger body is not kept for the next receiver. */
const KEPT_BYTES_MAX = 8 * 1024;

export type BodyBytes = (event: ClientEvent, payload: Payload) => Promise<Uint8Array>;

/** The bodies of one lease: receivers of an account hear the same events. */
export function shareBodies(eventBody: EventBody): BodyBytes {
  const kept = new Map<string, Uint8Array>();
  return async (event, payload) => {
    const key = `${payload} ${event.id}`;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const body = Buffer.from(await eventBody(event, payload));
    if (body.length <= KEPT_BYTES_MAX) kept.set(key, body);
    return body;
  };
}
