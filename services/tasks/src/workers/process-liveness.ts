import type { Deps } from '../operations/deps.ts';
import { recoverCreates, recoverOwnCreates } from '../operations/recovery/recover-creates.ts';

/** Between two looks at the heartbeats of the others. */
export const HEARTBEAT_MS = 1000;
/** A process whose heartbeat was the same in so many looks after the first is dead. */
export const MISSED_HEARTBEATS_MAX = 5;

/** What one process knows of the others that share its database. */
export interface ProcessLiveness {
  /** One look: says that this process lives, and takes over what dead ones left. */
  pass(): Promise<number>;
  /** Before the service is ready: what a crash cut off is settled. */
  recoverAtStart(): Promise<void>;
}

/**
 * A heartbeat that changes is life; what time it names says nothing, for clocks are set and differ, and while the database is away nobody looks
 * and nobody dies. A database that only one process can have (`exclusive`) shows at once that every other process is dead.
 */
export function openProcessLiveness(deps: Deps, exclusive: boolean): ProcessLiveness {
  const seen = new Map<string, { readonly heartbeat: number; readonly misses: number }>();
  const aliveNow = async (): Promise<readonly string[]> => {
    await deps.store.heartbeat(deps.processId, deps.clock.now());
    if (exclusive) return [deps.processId];
    const heartbeats = await deps.store.heartbeats();
    for (const id of seen.keys()) if (!heartbeats.has(id)) seen.delete(id);
    for (const [id, heartbeat] of heartbeats)
      seen.set(id, { heartbeat, misses: seen.get(id)?.heartbeat === heartbeat ? (seen.get(id)?.misses ?? 0) + 1 : 0 });
    return [...heartbeats.keys()].filter(
      (id) => id === deps.processId || (seen.get(id)?.misses ?? 0) < MISSED_HEARTBEATS_MAX,
    );
  };
  return {
    pass: async () => {
      const alive = await aliveNow();
      await recoverCreates(deps, alive);
      await recoverOwnCreates(deps);
      await bury(deps, alive);
      return 0;
    },
    recoverAtStart: async () => {
      for (let misses = 0; misses <= MISSED_HEARTBEATS_MAX; misses += 1) {
        const alive = await aliveNow();
        while ((await recoverCreates(deps, alive)) > 0);
        await bury(deps, alive);
        if (exclusive || (await deps.store.abandoned([deps.processId], 1)).length === 0) return;
        await deps.clock.sleep(HEARTBEAT_MS);
      }
    },
  };
}

/** What a dead process was looking at is free again at once. */
async function bury({ store }: Deps, alive: readonly string[]): Promise<void> {
  for (const id of (await store.heartbeats()).keys()) {
    if (alive.includes(id)) continue;
    await store.dropLeases(id);
    await store.forget(id);
  }
}
