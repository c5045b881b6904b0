import { RECENT_MINUTES } from '../trace/dropped-spans.ts';
import type { DropReason, RecentDrops } from '../trace/dropped-spans.ts';
import { ok } from './self-checks.ts';
import type { SelfCheck, Verdict } from './self-checks.ts';

const CAUSES: Readonly<Record<DropReason, string>> = {
  queue_full: 'more waited than fit into the queue',
  not_sent: 'the receiver did not take them',
};
const ADVICE: Readonly<Record<DropReason, string>> = {
  queue_full: 'lower tracing.sample, or raise OTEL_BSP_MAX_QUEUE_SIZE if the receiver keeps up with it',
  not_sent: 'start or repair the receiver at tracing.endpoint, and check tracing.headers',
};

/**
 * Reports whether the spans of this process reach their receiver. `recentDrops` is undefined if no spans are recorded.
 */
export function tracesCheck(recentDrops: (() => RecentDrops) | undefined): SelfCheck {
  return { part: 'traces', check: async () => (recentDrops === undefined ? OFF : judgeDrops(recentDrops())) };
}

const OFF = ok('off: tracing.endpoint names no receiver, so no trace is recorded');

function judgeDrops({ spans, reasons, fault }: RecentDrops): Verdict {
  if (spans === 0) return ok(`spans are sent, and none was dropped in ${RECENT_MINUTES} minutes`);
  const causes = reasons.map((reason) => CAUSES[reason]).join(', and ');
  return {
    grade: 'warn',
    detail:
      `${spans} spans were dropped in ${RECENT_MINUTES} minutes: ${causes}` +
      (fault === undefined ? '' : ` (${fault})`),
    advice: reasons.map((reason) => ADVICE[reason]).join('; '),
  };
}
