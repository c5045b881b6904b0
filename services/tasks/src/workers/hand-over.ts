import { waitForAbort } from '@reelgate/platform/lifecycle/drain';
import type { Drain } from '@reelgate/platform/lifecycle/drain';
import type { Deps } from '../operations/deps.ts';
import type { QueueWorker } from './take-turns.ts';
import type { Pollers } from './pollers.ts';

const CREATES_MS_MAX = 5000;
const CHECK_MS = 100;

/**
 * Ends the polls and the turns of the queue, and waits for the running creates, also without their callers. Other
 * processes continue the polls and the turns.
 */
export async function drainWork(
  deps: Deps,
  { pollers, queue }: { readonly pollers: Pollers; readonly queue: QueueWorker },
  { closing, over }: Drain,
): Promise<void> {
  await waitForAbort(closing);
  await queue.stop();
  await Promise.all([pollers.stop(), waitForCreates(deps, () => over.aborted)]);
}

/** At the stop of a process: waits for its creates for a while, then leaves all its work to the other processes. */
export async function handOver(deps: Deps): Promise<void> {
  const { store, clock, processId } = deps;
  const until = clock.now() + CREATES_MS_MAX;
  await waitForCreates(deps, () => clock.now() >= until);
  await store.dropLeases(processId);
  // Other processes take a process without a heartbeat for dead, so its heartbeat is removed last.
  await store.forget(processId);
}

async function waitForCreates({ clock, creating }: Deps, isLate: () => boolean): Promise<void> {
  while ([...creating.values()].includes('working') && !isLate()) await clock.sleep(CHECK_MS);
}
