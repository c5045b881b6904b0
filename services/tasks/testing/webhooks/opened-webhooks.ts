import type { NewId } from '@reelgate/platform/ids';
import type { Sql } from '@reelgate/platform/sql/sql';
import { expect } from '@jest/globals';
import { EVENT_TYPES, HEALTHY } from '../../src/domain/webhook.ts';
import type { ClientEvent, Delivery, Endpoint, Health, SealedSecret } from '../../src/domain/webhook.ts';
import type { JobStore } from '../../src/store/job-store.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import type { JudgedAttempt } from '../../src/domain/rules/judge-attempts.ts';
import type { LeasedReceiver, ReceiverRecord, WebhookStore } from '../../src/store/webhook-store.ts';

/** The stores of one process on an empty database, and those of another one. */
export interface OpenedWebhooks {
  readonly store: WebhookStore;
  readonly other: WebhookStore;
  readonly tasks: TaskStore;
  readonly jobs: JobStore;
  readonly sql: Sql;
  /** The stores on a database that behaves otherwise. */
  readonly on: (
    sql: Sql,
    newId?: NewId,
  ) => { readonly store: WebhookStore; readonly tasks: TaskStore; readonly jobs: JobStore };
}

export type OpenWebhooks = () => Promise<OpenedWebhooks>;

export const AT = 1_000_000_000;
export const UNTIL = AT + 60_000;

export function anEndpoint(id: string, changes: Partial<Endpoint> = {}): Endpoint {
  return {
    id,
    accountId: 'acme',
    name: 'site',
    url: `https://${id.replace('_', '-')}.example/hook`,
    eventTypes: EVENT_TYPES,
    payload: 'thin',
    createdAt: AT,
    updatedAt: AT,
    disabled: undefined,
    ...changes,
  };
}

export function aSecret(ownerId: string, changes: Partial<SealedSecret> = {}): SealedSecret {
  return {
    ownerId,
    accountId: 'acme',
    sealed: `sealed ${ownerId}`,
    hint: 'whsec_abcd…wxyz',
    old: undefined,
    createdAt: AT,
    updatedAt: AT,
    ...changes,
  };
}

export function anEvent(id: string, changes: Partial<ClientEvent> = {}): ClientEvent {
  return {
    id,
    accountId: 'acme',
    type: 'video.completed',
    subjectId: `task_of_${id}`,
    createdAt: AT,
    url: undefined,
    dataJson: undefined,
    ...changes,
  };
}

export async function added(store: WebhookStore, id: string, changes: Partial<Endpoint> = {}): Promise<Endpoint> {
  const endpoint = anEndpoint(id, changes);
  expect(await store.addEndpoint(endpoint, aSecret(id, { accountId: endpoint.accountId }), 1000)).toBe(true);
  return endpoint;
}

/** Writes events and gives them their places, in this order. */
export async function dispatched(
  store: WebhookStore,
  ids: readonly string[],
  changes: Partial<ClientEvent> = {},
): Promise<void> {
  for (const id of ids) await store.addEvent(anEvent(id, changes));
  expect(await store.dispatch({ now: changes.createdAt ?? AT, limit: 1000 })).toMatchObject({ events: ids.length });
}

/** All deliveries of an endpoint, the oldest first. */
export async function deliveriesOf(
  store: WebhookStore,
  endpointId: string,
  accountId = 'acme',
): Promise<readonly Delivery[]> {
  return (await store.listDeliveries({ accountId, endpointId }, { limit: 1000 })).toReversed();
}

let leases = 0;

export async function leased(
  store: WebhookStore,
  options: Partial<Parameters<WebhookStore['leaseReceivers']>[0]> = {},
): Promise<readonly LeasedReceiver[]> {
  leases += 1;
  const now = options.now ?? AT;
  return store.leaseReceivers({
    now,
    until: now + 60_000,
    lease: `lease_${leases}`,
    worker: 'gateway',
    limit: 64,
    perAccount: 32,
    originsPerAccount: 32,
    deliveries: 32,
    failuresMax: 5,
    ...options,
  });
}

/** An attempt of a delivery with its outcome. */
export function attempted(
  deliveryId: string,
  outcome: Partial<JudgedAttempt> & { readonly number?: number; readonly status?: number; readonly at?: number } = {},
): JudgedAttempt {
  const { number = 1, status = 200, at = AT, ...rest } = outcome;
  return {
    deliveryId,
    state: status === 200 ? 'delivered' : 'pending',
    attempt: {
      number,
      at,
      durationMs: 12,
      status,
      error: status === 200 ? '' : `http ${status}`,
      requestHeaders: { 'webhook-id': 'evt_1' },
      answerHead: 'ok',
    },
    ...rest,
  };
}

/** What a worker did with a receiver. Unless the test says otherwise, it gives the lease back. */
export function aRecord(
  { id, lease }: { readonly id: string; readonly lease: string },
  attempts: readonly JudgedAttempt[],
  changes: Partial<ReceiverRecord> = {},
): ReceiverRecord {
  return {
    receiverId: id,
    lease,
    attempts,
    health: HEALTHY,
    circuit: 0,
    hasRecovered: false,
    returned: true,
    at: AT,
    ...changes,
  };
}

export const FAILING: Health = {
  failures: 5,
  failingSince: AT - 1000,
  openUntil: AT + 5000,
  lastSuccessAt: AT - 2000,
  lastFailureAt: AT,
};

export async function dueAt(sql: Sql, receiverId: string): Promise<number | null | undefined> {
  const [row] = await sql.read('SELECT due_at FROM webhook_receivers WHERE id = $1', [receiverId]);
  const due = row?.['due_at'];
  return due === null || due === undefined ? due : Number(due);
}
