import type { Clock } from '@reelgate/platform/clock';
import type { ProcessUsage } from './process-usage.ts';

/** Where the machine has much else to do, work goes on for so many times the time that it may use. */
const TIMES_MAX = 4;
/** Between two looks at what is used: memory grows by no more than a few hundred mebibytes meanwhile. */
const LOOK_MS = 50;

export interface UsageBounds {
  readonly clock: Clock;
  /** Of the processor, from now on. */
  readonly ms: number;
  readonly memoryBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Resolves when a process has used so much of the processor or holds so much memory, whatever else the machine does meanwhile; at the latest
 * after four times as long, as for one that waits for what never comes, and at once when the signal is aborted. Where nothing is known
 * of the process only the clock counts.
 */
export async function boundsReached(usage: () => Promise<ProcessUsage | undefined>, { clock, ms, memoryBytes, signal }: UsageBounds): Promise<void> {
  const before = (await usage())?.processorMs ?? 0;
  const atMost = clock.now() + TIMES_MAX * ms;
  while (!signal.aborted && clock.now() < atMost) {
    await clock.sleep(Math.min(LOOK_MS, Math.max(1, atMost - clock.now())), signal);
    const now = await usage();
    if (now !== undefined && (now.processorMs - before >= ms || now.residentBytes > memoryBytes)) return;
  }
}
