import type { Foundation } from '@reelgate/platform/foundation';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { NOTHING_DUE, startWorker } from '@reelgate/platform/lifecycle/worker';
import type { PassResult, Worker } from '@reelgate/platform/lifecycle/worker';
import type { GaugeSampler } from '@reelgate/platform/metrics/sampled-gauges';
import type { WebhookSender } from '../clients/media.ts';
import { onBalanceLow } from '../events/on-balance-low.ts';
import { announceDispatched, onEventsDispatched } from '../events/announcements.ts';
import { newStreamPermits } from '../operations/content/content-stream-permits.ts';
import type { Deps } from '../operations/deps.ts';
import type { JobDeps } from '../operations/jobs/job-deps.ts';
import { removeOldWebhooks } from '../operations/retention/remove-old-records.ts';
import type { OpenWatches } from '../operations/watches/open-watches.ts';
import { DISPATCHED_MAX, dispatchEvents } from '../operations/webhooks/dispatch-events.ts';
import { newEventHub } from '../operations/webhooks/watch-events.ts';
import type { EventHub, EventWatchDeps } from '../operations/webhooks/watch-events.ts';
import type { RecordDeps } from '../operations/webhooks/record-attempts.ts';
import { sealer, resealSecrets, webhookSecrets } from '../operations/webhooks/secrets.ts';
import type { WebhookDeps, WebhookLimits } from '../operations/webhooks/webhook-deps.ts';
import type { WebhookStore } from '../store/webhook-store.ts';
import { watchWebhooks, webhookMetrics } from '../monitoring/webhook-metrics.ts';
import { webhookSelfChecks } from '../monitoring/tasks-self-checks.ts';
import { loopUtilization, spareTime } from './spare-time.ts';

/** Each end of a task or a job wakes the dispatch of its process. */
const DISPATCH_IDLE_MS = 500;
/** Ends of a moment share a transaction. */
const DISPATCH_APART_MS = 50;
const REMOVE_IDLE_MS = 1000;
/** The first pass follows a change of the signing key. The others drop secrets that no longer sign. */
const RESEAL_IDLE_MS = 3_600_000;
const READ_IDLE_MS = 500;
const READ_APART_MS = 50;
const STREAMS = { what: 'event streams', total: 500, perAccount: 16 };

export interface WebhookParts {
  readonly deps: Deps;
  readonly jobs: JobDeps['jobs'];
  readonly webhooks: WebhookStore;
  readonly sender: WebhookSender;
  readonly limits: WebhookLimits;
  readonly watches: OpenWatches;
  readonly sampler: GaugeSampler;
}

export interface RunningWebhooks {
  readonly deps: WebhookDeps & EventWatchDeps & RecordDeps;
  /** Starts a dispatch at once. */
  readonly wake: () => void;
}

/** Starts the workers that turn the ends of work into events, streams and deliveries. */
export async function startWebhooks(
  foundation: Foundation,
  parts: WebhookParts,
  lifecycle: Lifecycle,
): Promise<RunningWebhooks> {
  const { bus, clock, checks } = foundation;
  const { webhooks, sampler } = parts;
  watchWebhooks(sampler, { webhooks, clock });
  checks?.add(...webhookSelfChecks({ webhooks, clock }));
  let reads: Worker | undefined = undefined;
  const deps = openDeps(foundation, parts, () => reads?.wake());
  const start = (name: string, idleMs: number, pass: () => Promise<PassResult>, apartMs?: number): Worker => {
    const worker = startWorker({ name, clock, log: deps.log, idleMs, apartMs, pass });
    lifecycle.add(name, () => worker.stop());
    return worker;
  };
  // Deliveries have seconds to spare. While many tasks end at one moment, the ends come first.
  const spare = spareTime(clock, loopUtilization());
  const dispatchInTime = async (): Promise<PassResult> => {
    if (!spare.mayBegin()) return 0;
    const taken = await dispatchEvents(deps);
    return taken < DISPATCHED_MAX ? { ...NOTHING_DUE, did: taken } : taken;
  };
  const dispatch = start('event dispatch', DISPATCH_IDLE_MS, dispatchInTime, DISPATCH_APART_MS);
  start('webhook retention', REMOVE_IDLE_MS, () => removeOldWebhooks(deps));
  start('webhook secrets', RESEAL_IDLE_MS, () => resealSecrets(deps));
  const wake = (): void => dispatch.wake();
  const lowBalances = await onBalanceLow(bus, { webhooks, clock, wake });
  lifecycle.add('balance events', () => lowBalances.stop());
  reads = start('event streams', READ_IDLE_MS, () => deps.hub.pass(), READ_APART_MS);
  const dispatched = await onEventsDispatched(bus, () => reads?.wake());
  lifecycle.add('dispatched events', () => dispatched.stop());
  return { deps, wake };
}

function openDeps(
  { bus, acceptedKeys, random, metrics }: Foundation,
  { deps: { store, clock, newId, chance, log, webhookAllow }, jobs, webhooks, ...parts }: WebhookParts,
  wakeReads: () => void,
): RunningWebhooks['deps'] & { readonly hub: EventHub } {
  const seals = sealer(acceptedKeys, random);
  return {
    ...parts,
    webhooks,
    tasks: store,
    jobs,
    sealer: seals,
    secrets: webhookSecrets({ webhooks, sealer: seals, random, clock, log }),
    clock,
    newId,
    chance,
    log,
    allow: webhookAllow,
    announceDispatched: announceDispatched(bus),
    count: webhookMetrics(metrics),
    hub: newEventHub(webhooks, wakeReads),
    permits: newStreamPermits(STREAMS),
  };
}
