import type { TimeSource } from '../clock.ts';
import type { WarningLog } from '../log.ts';
import type { CounterRegistry, Metrics } from '../metrics/metrics.ts';

/** The reason why spans are dropped: too many wait, or the receiver did not accept them. */
export const DROP_REASONS = ['queue_full', 'not_sent'] as const;
export type DropReason = (typeof DROP_REASONS)[number];

/** A receiver that is away for long is one line a minute. */
const SAID_EVERY_MS = 60_000;
const MINUTE_MS = 60_000;
/** The period for which dropped spans are reported to an operator. */
export const RECENT_MINUTES = 15;

/** Spans that were dropped in the last minutes. */
export interface RecentDrops {
  readonly spans: number;
  readonly reasons: readonly DropReason[];
  /** The last fault of the receiver, undefined if there was none. */
  readonly fault: string | undefined;
}

export interface DropNotes {
  note(reason: DropReason, spans: number, fault?: string): void;
}

/** Counts the spans that are lost on their way to the receiver. */
export interface DroppedSpans extends DropNotes {
  /** Counts the drops of the last `RECENT_MINUTES`. */
  recent(): RecentDrops;
}

interface Minute {
  readonly minute: number;
  readonly reasons: Set<DropReason>;
  spans: number;
}

/** Registers the counter. Its series begin at 0 so that an alert sees the first increase. */
export function countDroppedSpans(metrics: CounterRegistry): ReturnType<Metrics['counter']> {
  const counter = metrics.counter(
    'reelgate_trace_spans_dropped_total',
    'Spans that were not sent: the queue was full, or the receiver did not take them',
    ['reason'],
  );
  counter.begin(() => DROP_REASONS.map((reason) => [reason]));
  return counter;
}

export function newDroppedSpans(
  counter: ReturnType<Metrics['counter']>,
  { log, clock }: { readonly log: WarningLog; readonly clock: TimeSource },
): DroppedSpans {
  let [unsaid, saidAt] = [0, -Infinity];
  let minutes: Minute[] = [];
  let lastFault: string | undefined;
  const currentMinute = (): number => Math.floor(clock.now() / MINUTE_MS);
  const recentMinutes = (): Minute[] => minutes.filter(({ minute }) => currentMinute() - minute < RECENT_MINUTES);
  const remember = (reason: DropReason, spans: number): void => {
    minutes = recentMinutes();
    let last = minutes.at(-1);
    if (last?.minute !== currentMinute()) {
      last = { minute: currentMinute(), reasons: new Set(), spans: 0 };
      minutes.push(last);
    }
    last.spans += spans;
    last.reasons.add(reason);
  };
  return {
    note: (reason, spans, fault) => {
      counter.labels(reason).inc(spans);
      remember(reason, spans);
      lastFault = fault ?? lastFault;
      unsaid += spans;
      if (clock.now() - saidAt < SAID_EVERY_MS) return;
      log.warn({ dropped: unsaid, reason, fault }, 'spans were dropped');
      [unsaid, saidAt] = [0, clock.now()];
    },
    recent: () => {
      const recent = recentMinutes();
      const reasons = DROP_REASONS.filter((reason) => recent.some((minute) => minute.reasons.has(reason)));
      return {
        spans: recent.reduce((sum, { spans }) => sum + spans, 0),
        reasons,
        fault: recent.length === 0 ? undefined : lastFault,
      };
    },
  };
}
