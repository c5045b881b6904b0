import { waitForAbort } from '@reelgate/platform/lifecycle/drain';
import type { Drain } from '@reelgate/platform/lifecycle/drain';
import type { Deps } from '../operations/deps.ts';
import type { Pollers } from './pollers.ts';

const CREATES_MS_MAX = 5000;
const CHECK_MS = 100;

/** Ends the polls and waits for the creates, whose callers may have left. Other processes go on with the polls. */
export async function drainWork(
  deps: Pick<Deps, 'clock' | 'creating'>,
  pollers: Pick<Pollers, 'stop'>,
  { closing, over }: Drain,
): Promise<void> {
  await waitForAbort(closing);
  await Promise.all([pollers.stop(), waitForCreates(deps, () => over.aborted)]);
}

/** At the stop of a process: waits for its creates for a while, then leaves all its work to the other processes. */
export async function handOver({
  store,
  clock,
  creating,
  processId,
}: Pick<Deps, 'store' | 'clock' | 'creating' | 'processId'>): Promise<void> {
  const until = clock.now() + CREATES_MS_MAX;
  await waitForCreates({ clock, creating }, () => clock.now() >= until);
  await store.dropLeases(processId);
  // Other processes take a process without a heartbeat for dead, so its heartbeat is removed last.
  await store.forget(processId);
}

async function waitForCreates(
  { clock, creating }: Pick<Deps, 'clock' | 'creating'>,
  isLate: () => boolean,
): Promise<void> {
  while ([...creating.values()].includes('working') && !isLate()) await clock.sleep(CHECK_MS);
}
