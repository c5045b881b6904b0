import type { Worker } from 'node:worker_threads';
import type { Clock } from '@reelgate/platform/clock';

const US_A_MS = 1000;
/** Where the machine has much else to do, work goes on for so many times the time that it may use. */
const TIMES_MAX = 4;
/** Between two looks at what was used. */
const LOOK_MS = 20;

/**
 * Resolves when a worker has used so much of the processor from now on, whatever else the machine does meanwhile; at the latest after
 * four times as long, as for one that waits for what never comes, and at once when the signal is aborted.
 */
export async function processorTimeUsed(worker: Worker, clock: Clock, { ms, signal }: { readonly ms: number; readonly signal: AbortSignal }): Promise<void> {
  const before = await usedMs(worker);
  const atMost = clock.now() + TIMES_MAX * ms;
  let left = ms;
  while (left > 0 && !signal.aborted && clock.now() < atMost) {
    await clock.sleep(Math.max(LOOK_MS, left), signal);
    // A worker in a long call into native code answers after it.
    const used = await Promise.race([usedMs(worker), clock.sleep(Math.max(LOOK_MS, atMost - clock.now()), signal).then(() => Number.POSITIVE_INFINITY)]);
    left = ms - (used - before);
  }
}

async function usedMs(worker: Worker): Promise<number> {
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / US_A_MS;
  } catch {
    // It has ended, and uses no more.
    return Number.POSITIVE_INFINITY;
  }
}
