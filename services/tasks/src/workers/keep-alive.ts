import type { Deps } from '../operations/deps.ts';
import { recoverCreates } from '../operations/recover-creates.ts';

/** A process that has not been heard of for this long is dead. */
export const SILENCE_MS = 5000;

/** One pass: says that this process lives, and takes over what dead ones left. */
export async function keepAlive(deps: Deps): Promise<number> {
  const now = deps.clock.now();
  await deps.store.beat(deps.processId, now);
  await recoverCreates(deps, await deps.store.aliveSince(now - SILENCE_MS));
  await bury(deps, now - SILENCE_MS);
  return 0;
}

/** What a dead process was looking at is free again at once. */
async function bury({ store, processId }: Deps, silentSince: number): Promise<void> {
  for (const dead of await store.silentSince(silentSince)) {
    if (dead === processId) continue;
    await store.dropLeases(dead);
    await store.forget(dead);
  }
}

/**
 * Before the service is ready: what a crash cut off is settled. A database that only one process can have (`exclusive`) shows at once
 * that every other process is dead; another one needs their silence, a few seconds at most.
 */
export async function recoverAtStart(deps: Deps, exclusive: boolean): Promise<void> {
  const begun = deps.clock.now();
  await deps.store.beat(deps.processId, begun);
  for (;;) {
    const now = deps.clock.now();
    const alive = exclusive ? [deps.processId] : await deps.store.aliveSince(now - SILENCE_MS);
    const recovered = await recoverCreates(deps, alive);
    await bury(deps, exclusive ? Number.MAX_SAFE_INTEGER : now - SILENCE_MS);
    if (recovered > 0) continue;
    const doubtful = exclusive ? 0 : (await deps.store.abandoned([deps.processId], 0, 1)).length;
    if (doubtful === 0 || now - begun > SILENCE_MS) return;
    await deps.clock.sleep(SILENCE_MS / 10);
  }
}
