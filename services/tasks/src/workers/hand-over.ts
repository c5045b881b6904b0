import type { Deps } from '../operations/deps.ts';

const CREATES_MS_MAX = 5000;
const CHECK_MS = 100;

/** At the stop of a process: waits for its creates for a while, then leaves all its work to the other processes. */
export async function handOver({
  store,
  clock,
  creating,
  processId,
}: Pick<Deps, 'store' | 'clock' | 'creating' | 'processId'>): Promise<void> {
  const working = (): boolean => [...creating.values()].includes('working');
  for (let waited = 0; working() && waited < CREATES_MS_MAX; waited += CHECK_MS) await clock.sleep(CHECK_MS);
  await store.dropLeases(processId);
  // Other processes take a process without a heartbeat for dead, so its heartbeat is removed last.
  await store.forget(processId);
}
