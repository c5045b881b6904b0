import { HEALTHY } from '../../../src/domain/webhook.ts';
import type { Endpoint } from '../../../src/domain/webhook.ts';
import { findReceiver, listPending } from './webhooks-state.ts';
import type { ModelDelivery, ModelReceiver, WebhooksState } from './webhooks-state.ts';

/** A delivery is made due before its time so often, and never after this status. */
const HURRIES_MAX = 3;
const TOO_MANY_REQUESTS = 429;

/** A circuit that is open puts a due time off. */
function waitForCircuit({ health: { openUntil = 0 } }: ModelReceiver, at: number): number {
  return Math.max(openUntil, at);
}

export function wakeReceiver(
  state: WebhooksState,
  { id, accountId, endpointId }: { readonly id: string; readonly accountId: string; readonly endpointId: string },
  at: number,
): ModelReceiver {
  const found = findReceiver(state, id);
  if (found === undefined) {
    const made: ModelReceiver = {
      ...{ id, accountId, endpointId, dueAt: at, lease: undefined, leaseUntil: undefined, worker: undefined },
      ...{ health: HEALTHY, circuit: 0, updatedAt: at },
    };
    state.receivers.push(made);
    return made;
  }
  if (found.lease === undefined) found.dueAt = Math.min(found.dueAt ?? Infinity, waitForCircuit(found, at));
  return found;
}

/** Sets the due time of a receiver without a lease by its deliveries. */
export function refreshDueTime(state: WebhooksState, receiver: ModelReceiver, at: number): void {
  if (receiver.lease !== undefined) return;
  const first = listPending(state, receiver.id)[0]?.dueAt;
  receiver.dueAt = first === undefined ? undefined : waitForCircuit(receiver, first);
  receiver.updatedAt = at;
}

export function returnLease(state: WebhooksState, receiver: ModelReceiver, at: number): void {
  receiver.lease = undefined;
  receiver.leaseUntil = undefined;
  refreshDueTime(state, receiver, at);
}

/** Makes a delivery due under a new schedule. */
export function sendAgain(delivery: ModelDelivery, dueAt: number): void {
  Object.assign(delivery, { dueAt, attemptsBefore: delivery.attempts, hurries: 0 });
}

export function hurryPending(state: WebhooksState, receiverId: string, at: number): void {
  for (const one of listPending(state, receiverId)) {
    if ((one.dueAt ?? 0) <= at || one.hurries >= HURRIES_MAX || one.status === TOO_MANY_REQUESTS) continue;
    one.dueAt = at;
    one.hurries += 1;
  }
}

export function endPending(state: WebhooksState, receiverId: string, error: string, at: number): void {
  for (const one of listPending(state, receiverId))
    Object.assign(one, { state: 'failed', error, dueAt: undefined, endedAt: at });
}

/** Replaces an endpoint by one with these changes. */
export function changeEndpoint(state: WebhooksState, endpoint: Endpoint, changes: Partial<Endpoint>): Endpoint {
  const changed = { ...endpoint, ...changes };
  state.endpoints = state.endpoints.map((one) => (one === endpoint ? changed : one));
  return changed;
}
