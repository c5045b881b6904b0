import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { judgeAttempts } from '../../domain/rules/judge-attempts.ts';
import type { MadeAttempt } from '../../domain/rules/judge-attempts.ts';
import type { Delivery, DeliveryState, DisabledReason } from '../../domain/webhook.ts';
import type { DeliveryStore, LeasedReceiver, ReceiverRecord } from '../../store/webhook-store.ts';
import { invalidRequest } from './webhook-refusals.ts';

/** The consequence of an attempt: it succeeded, another follows, or it was the last one. */
export type AttemptOutcome = 'delivered' | 'to_repeat' | 'given_up';
const OUTCOMES: Readonly<Record<DeliveryState, AttemptOutcome>> = {
  delivered: 'delivered',
  pending: 'to_repeat',
  failed: 'given_up',
};

export interface DeliveryCounts {
  readonly webhookAttempt: (outcome: AttemptOutcome, durationMs: number) => void;
  readonly endpointDisabled: (reason: DisabledReason) => void;
}

export interface RecordDeps {
  readonly webhooks: DeliveryStore;
  readonly clock: Clock;
  /** A random number from 0 to 1, exclusive. */
  readonly chance: () => number;
  readonly log: Log;
  readonly count: DeliveryCounts;
}

/** The attempts of a worker under one lease. */
export interface WorkerRecord {
  readonly receiverId: string;
  readonly lease: string;
  /** In the order in which they ended. */
  readonly attempts: readonly MadeAttempt[];
  readonly returned: boolean;
}

type HeldReceiver = Omit<LeasedReceiver, 'deliveries'>;

/** Writes attempts and their consequences. Returns the receivers with a lost lease. */
export async function recordAttempts(deps: RecordDeps, reported: readonly WorkerRecord[]): Promise<readonly string[]> {
  const { webhooks, clock } = deps;
  if (new Set(reported.map(({ receiverId }) => receiverId)).size < reported.length)
    throw invalidRequest('records', 'must hold at most one record for a receiver');
  const now = clock.now();
  const held = await webhooks.findHeldReceivers(reported);
  const deliveries = await webhooks.findDeliveries(
    reported.flatMap(({ attempts }) => attempts.map(({ deliveryId }) => deliveryId)),
  );
  const records = reported.flatMap((record) => {
    const receiver = held.get(record.receiverId);
    return receiver === undefined ? [] : [judgeRecord(deps, record, receiver, { deliveries, now })];
  });
  const lost = new Set(await webhooks.recordAttempts(records));
  for (const record of records) {
    const receiver = held.get(record.receiverId);
    if (receiver !== undefined && !lost.has(record.receiverId)) countAndLog(deps, record, receiver, deliveries);
  }
  return reported.map(({ receiverId }) => receiverId).filter((id) => !held.has(id) || lost.has(id));
}

function judgeRecord(
  { chance }: RecordDeps,
  { receiverId, lease, attempts, returned }: WorkerRecord,
  receiver: HeldReceiver,
  { deliveries, now }: { readonly deliveries: ReadonlyMap<string, Delivery>; readonly now: number },
): ReceiverRecord {
  const own = new Map([...deliveries].filter(([, delivery]) => delivery.receiverId === receiverId));
  return { receiverId, lease, returned, at: now, ...judgeAttempts(receiver, own, attempts, { now, chance }) };
}

function countAndLog(
  { log, count }: RecordDeps,
  { attempts, disable }: ReceiverRecord,
  { accountId, endpointId, endpoint }: HeldReceiver,
  deliveries: ReadonlyMap<string, Delivery>,
): void {
  for (const { deliveryId, attempt, state, dueAt } of attempts) {
    const { number, status, error, durationMs } = attempt;
    count.webhookAttempt(OUTCOMES[state], durationMs);
    if (state === 'delivered') continue;
    const host = readHost(endpoint?.url ?? deliveries.get(deliveryId)?.url ?? '');
    log.info(
      { accountId, endpointId, deliveryId, attempt: number, host, status, error, durationMs, state, dueAt },
      'an attempt to deliver a webhook failed',
    );
  }
  if (disable === undefined) return;
  count.endpointDisabled(disable);
  log.warn({ accountId, endpointId, reason: disable }, 'a webhook endpoint was disabled');
}

/** The path of a receiver can be its credential, as with Slack and Discord. */
function readHost(url: string): string | undefined {
  return URL.parse(url)?.host;
}
