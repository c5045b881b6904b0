import type { Clock } from '@reelgate/platform/clock';
import type { ProcessUsage } from './process-usage.ts';

/** On a busy machine a job can run for this many times its processor time. */
const TIMES_MAX = 4;
/** The interval between two usage checks. Memory grows by a few hundred mebibytes at most in that time. */
const POLL_MS = 50;

export interface UsageBounds {
  readonly clock: Clock;
  /** The usage before the job, undefined if it is unknown or the process is new. */
  readonly before: ProcessUsage | undefined;
  /** The processor time that the process can use from now on. */
  readonly ms: number;
  readonly memoryBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Resolves when a process has used `ms` of processor time or holds more than `memoryBytes`, even on a busy machine. It
 * resolves after `TIMES_MAX * ms` of wall-clock time at the latest, because a process can wait forever, and immediately
 * when the signal is aborted. If the usage of the process is unknown, only the wall clock counts.
 */
export async function boundsReached(
  usage: () => ProcessUsage | undefined,
  { clock, before, ms, memoryBytes, signal }: UsageBounds,
): Promise<void> {
  const from = before?.processorMs ?? 0;
  const atMost = clock.now() + TIMES_MAX * ms;
  while (!signal.aborted && clock.now() < atMost) {
    await clock.sleep(Math.min(POLL_MS, Math.max(1, atMost - clock.now())), signal);
    const now = usage();
    if (now !== undefined && (now.processorMs - from >= ms || now.residentBytes > memoryBytes)) return;
  }
}
