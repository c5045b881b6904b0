import type { Deps } from '../operations/deps.ts';
import { recoverCreates, recoverOwnCreates } from '../operations/recovery/recover-creates.ts';

export const HEARTBEAT_MS = 1000;
/** A process whose heartbeat has not changed in this many passes after the first is dead. */
export const MISSED_HEARTBEATS_MAX = 5;

/** Knows which processes on the same database are alive. */
export interface ProcessLiveness {
  /** Sends a heartbeat and takes over the work of dead processes. */
  pass(): Promise<number>;
  /** Settles what a crash interrupted, before the service is ready. */
  recoverAtStart(): Promise<void>;
  /** The number of live processes at the last pass, this one included. */
  count(): number;
}

/**
 * A process is alive as long as its heartbeat changes. The time in the heartbeat is not compared, because clocks differ
 * and can be set. While the database is away no pass counts, so no process is taken for dead. If only one process can
 * have the database (`exclusive`), every other process is dead at once.
 */
export function openProcessLiveness(deps: Deps, exclusive: boolean): ProcessLiveness {
  const seen = new Map<string, { readonly heartbeat: number; readonly misses: number }>();
  let count = 1;
  const aliveNow = async (): Promise<readonly string[]> => {
    await deps.store.heartbeat(deps.processId, deps.clock.now());
    if (exclusive) return [deps.processId];
    const heartbeats = await deps.store.heartbeats();
    for (const id of seen.keys()) if (!heartbeats.has(id)) seen.delete(id);
    for (const [id, heartbeat] of heartbeats)
      seen.set(id, { heartbeat, misses: seen.get(id)?.heartbeat === heartbeat ? (seen.get(id)?.misses ?? 0) + 1 : 0 });
    const alive = [...heartbeats.keys()].filter(
      (id) => id === deps.processId || (seen.get(id)?.misses ?? 0) < MISSED_HEARTBEATS_MAX,
    );
    count = Math.max(1, alive.length);
    return alive;
  };
  return {
    count: () => count,
    pass: async () => {
      const alive = await aliveNow();
      await recoverCreates(deps, alive);
      await recoverOwnCreates(deps);
      await releaseDead(deps, alive);
      return 0;
    },
    recoverAtStart: async () => {
      for (let misses = 0; misses <= MISSED_HEARTBEATS_MAX; misses += 1) {
        const alive = await aliveNow();
        while ((await recoverCreates(deps, alive)) > 0);
        await releaseDead(deps, alive);
        if (exclusive || (await deps.store.abandoned([deps.processId], 1)).length === 0) return;
        await deps.clock.sleep(HEARTBEAT_MS);
      }
    },
  };
}

/** Frees the leases of dead processes at once. */
async function releaseDead({ store }: Deps, alive: readonly string[]): Promise<void> {
  for (const id of (await store.heartbeats()).keys()) {
    if (alive.includes(id)) continue;
    await store.dropLeases(id);
    await store.forget(id);
  }
}
