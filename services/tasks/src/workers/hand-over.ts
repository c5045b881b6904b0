import type { Deps } from '../operations/deps.ts';

const CREATES_MS_MAX = 5000;
const CHECK_MS = 100;

/** At the end of a process: lets its creates end for a while, then leaves everything that it had in hand to the others. */
export async function handOver({
  store,
  clock,
  creating,
  processId,
}: Pick<Deps, 'store' | 'clock' | 'creating' | 'processId'>): Promise<void> {
  const working = (): boolean => [...creating.values()].includes('working');
  for (let waited = 0; working() && waited < CREATES_MS_MAX; waited += CHECK_MS) await clock.sleep(CHECK_MS);
  await store.dropLeases(processId);
  // Whoever is not known here is dead to the others, so it comes last: until it is done they wait for its silence.
  await store.forget(processId);
}
