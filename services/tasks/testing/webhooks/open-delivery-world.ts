import path from 'node:path';
import { newIds, systemRandom } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import { Secret, acceptOnly } from '@reelgate/platform/secret';
import { migrate } from '@reelgate/platform/sql/migrate';
import type { Sql } from '@reelgate/platform/sql/sql';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import type { DueWebhookDelivery, LeasedWebhookReceiver } from '@reelgate/proto/tasks/v1/webhook_service';
import type { MadeAttempt } from '../../src/domain/rules/judge-attempts.ts';
import type { ClientEvent, Endpoint } from '../../src/domain/webhook.ts';
import { newStreamPermits } from '../../src/operations/content/content-stream-permits.ts';
import { newOpenWatches } from '../../src/operations/watches/open-watches.ts';
import { dispatchEvents } from '../../src/operations/webhooks/dispatch-events.ts';
import type { DispatchDeps } from '../../src/operations/webhooks/dispatch-events.ts';
import { newEventHub } from '../../src/operations/webhooks/watch-events.ts';
import type { EventWatchDeps } from '../../src/operations/webhooks/watch-events.ts';
import { leaseReceivers } from '../../src/operations/webhooks/lease-receivers.ts';
import type { LeaseDeps } from '../../src/operations/webhooks/lease-receivers.ts';
import { recordAttempts } from '../../src/operations/webhooks/record-attempts.ts';
import type { RecordDeps, WorkerRecord } from '../../src/operations/webhooks/record-attempts.ts';
import { sealer, webhookSecrets } from '../../src/operations/webhooks/secrets.ts';
import type { WebhookSecrets } from '../../src/operations/webhooks/secrets.ts';
import { sqlJobs } from '../../src/store/jobs/sql-jobs.ts';
import { SHARDS_MAX } from '../../src/store/tasks/counter-shards.ts';
import { sqlTaskStore } from '../../src/store/tasks/sql-task-store.ts';
import type { TaskStore } from '../../src/store/task-store.ts';
import { sqlWebhooks } from '../../src/store/webhooks/sql-webhooks.ts';
import type { WebhookStore } from '../../src/store/webhook-store.ts';
import { newJournal, recorded } from '../journal.ts';
import type { Journal } from '../journal.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../migrations');
const ENDPOINTS_MAX = 100;

/** One process with the operations of deliveries and streams, on a real store. */
export interface DeliveryWorld {
  readonly deps: DispatchDeps &
    LeaseDeps &
    RecordDeps &
    EventWatchDeps & { readonly webhooks: WebhookStore; readonly secrets: WebhookSecrets };
  readonly tasks: TaskStore;
  readonly journal: Journal;
  readonly clock: FakeClock;
  /** Every line of the log. */
  readonly lines: readonly string[];
  /** What was announced and counted, in order. */
  readonly told: readonly string[];
  addEndpoint(id: string, changes?: Partial<Endpoint>): Promise<void>;
  /** Writes events, not dispatched yet. */
  happen(...events: readonly (Partial<ClientEvent> & { readonly id: string })[]): Promise<void>;
  /** Dispatches until nothing is left. */
  dispatch(): Promise<void>;
  lease(limit?: number): Promise<readonly LeasedWebhookReceiver[]>;
  /** Records one attempt for each delivery, and gives the leases back. Returns the receivers whose lease had ended. */
  answer(
    receivers: readonly LeasedWebhookReceiver[],
    status: number,
    changes?: Partial<WorkerRecord>,
  ): Promise<readonly string[]>;
}

export async function openDeliveryWorld(sql: Sql, clock: FakeClock = fakeClock()): Promise<DeliveryWorld> {
  await migrate(sql, MIGRATIONS);
  const journal = newJournal();
  const newId = newIds(clock);
  const webhooks = recorded('webhooks', sqlWebhooks(sql, newId), journal);
  const tasks = sqlTaskStore(sql, newId, () => ({ type: 'finished', payload: '{}' }), SHARDS_MAX);
  const { log, lines } = keptLines();
  const told: string[] = [];
  const seals = sealer(acceptOnly(new Secret('the signing key of the tests')), systemRandom);
  const deps: DeliveryWorld['deps'] = {
    webhooks,
    tasks,
    jobs: sqlJobs(sql, newId, SHARDS_MAX),
    secrets: webhookSecrets({ webhooks, sealer: seals, random: systemRandom, clock, log }),
    clock,
    newId,
    chance: () => 0.5,
    log,
    announceDispatched: ({ deliveriesDue }) => void told.push(deliveriesDue ? 'dispatched' : 'nothing due'),
    count: {
      webhookAttempt: (outcome) => void told.push(outcome),
      endpointDisabled: (reason) => void told.push(`disabled ${reason}`),
    },
    hub: newEventHub(webhooks, () => undefined),
    watches: newOpenWatches(clock),
    permits: newStreamPermits({ what: 'event streams', total: 500, perAccount: 16 }),
  };
  return {
    deps,
    tasks,
    journal,
    clock,
    lines,
    told,
    addEndpoint: async (id, changes = {}) => {
      const endpoint = anEndpoint(id, { createdAt: clock.now(), updatedAt: clock.now(), ...changes });
      const { stored } = deps.secrets.make({ accountId: endpoint.accountId, endpointId: id });
      await webhooks.addEndpoint(endpoint, stored, ENDPOINTS_MAX);
    },
    happen: async (...events) => {
      for (const event of events)
        await webhooks.addEvent({
          accountId: 'acme',
          type: 'video.completed',
          subjectId: 'task_1',
          createdAt: clock.now(),
          ...event,
        });
    },
    dispatch: async () => {
      while ((await dispatchEvents(deps)) > 0);
    },
    lease: async (limit = 64) => (await leaseReceivers(deps, 'gateway_1', limit)).receivers,
    answer: (receivers, status, changes = {}) =>
      recordAttempts(
        deps,
        receivers.map(({ receiverId, lease, deliveries }) => ({
          receiverId,
          lease,
          attempts: deliveries.map((delivery) => made(delivery, status, clock.now())),
          returned: true,
          ...changes,
        })),
      ),
  };
}

function anEndpoint(id: string, changes: Partial<Endpoint>): Endpoint {
  return {
    id,
    accountId: 'acme',
    name: id,
    url: `https://${id.replace('_', '-')}.example/hook?token=secret-word`,
    eventTypes: ['video.completed', 'video.failed'],
    payload: 'thin',
    createdAt: 0,
    updatedAt: 0,
    ...changes,
  };
}

export function made({ deliveryId, attempt }: DueWebhookDelivery, status: number, at: number): MadeAttempt {
  return {
    deliveryId,
    attempt: {
      number: attempt,
      at,
      durationMs: 20,
      status,
      error: status === 0 ? 'timeout' : '',
      requestHeaders: { 'content-type': 'application/json' },
      answerHead: '',
    },
    retryAfterMs: 0,
  };
}

/** The event ids of leased deliveries, in order. */
export function listEventIds(receivers: readonly LeasedWebhookReceiver[]): readonly string[] {
  return receivers.flatMap(({ deliveries }) => deliveries.map(({ event }) => event!.id)).toSorted();
}

function keptLines(): { readonly log: Log; readonly lines: readonly string[] } {
  const lines: string[] = [];
  const keep = (fields: object, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = {
    debug: keep,
    info: keep,
    warn: keep,
    error: keep,
    access: (_line, fields, message) => keep(fields, message),
    child: () => log,
  };
  return { log, lines };
}
