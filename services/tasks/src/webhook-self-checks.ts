import type { Clock } from '@reelgate/platform/clock';
import { backlogCheck } from '@reelgate/platform/diagnosis/backlog-check';
import type { SelfCheck } from '@reelgate/platform/diagnosis/self-checks';
import type { WebhookBacklogStore } from './store/webhook-store.ts';

const MINUTE_MS = 60_000;

/** The checks that clients hear of the ends of their work in time. */
export function webhookSelfChecks({
  webhooks,
  clock,
}: {
  readonly webhooks: WebhookBacklogStore;
  readonly clock: Pick<Clock, 'now'>;
}): readonly SelfCheck[] {
  return [
    backlogCheck({
      part: 'events',
      clock,
      what: 'undispatched events',
      warnMs: MINUTE_MS / 2,
      failMs: 5 * MINUTE_MS,
      advice: 'look at the log of tasks for failed passes of the worker `event dispatch`',
      read: () => webhooks.countUndispatchedEvents(),
    }),
    backlogCheck({
      part: 'webhooks',
      clock,
      what: 'due deliveries',
      warnMs: 2 * MINUTE_MS,
      failMs: 10 * MINUTE_MS,
      advice: 'add replicas of the gateway, whose workers send the deliveries; its log names failed passes',
      read: async () => ({ oldestAt: due((await webhooks.countPendingDeliveries()).oldestDueAt, clock.now()) }),
    }),
  ];
}

/** A delivery that is due later does not wait. */
function due(at: number | undefined, now: number): number | undefined {
  return at === undefined || at > now ? undefined : at;
}
