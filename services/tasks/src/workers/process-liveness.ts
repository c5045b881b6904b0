import type { Deps } from '../operations/deps.ts';
import { recoverCreates, recoverOwnCreates } from '../operations/recovery/recover-creates.ts';

/** Between two looks at the beats of the others. */
export const LOOK_MS = 1000;
/** A process whose beat was the same in so many looks after the first is dead. */
export const SILENT_LOOKS = 5;

/** What one process knows of the others that share its database. */
export interface Vigil {
  /** One look: says that this process lives, and takes over what dead ones left. */
  pass(): Promise<number>;
  /** Before the service is ready: what a crash cut off is settled. */
  recoverAtStart(): Promise<void>;
}

/**
 * A beat that changes is life; what time it names says nothing, for clocks are set and differ, and while the database is away nobody looks
 * and nobody dies. A database that only one process can have (`exclusive`) shows at once that every other process is dead.
 */
export function openVigil(deps: Deps, exclusive: boolean): Vigil {
  const seen = new Map<string, { readonly beat: number; readonly looks: number }>();
  const aliveNow = async (): Promise<readonly string[]> => {
    await deps.store.beat(deps.processId, deps.clock.now());
    if (exclusive) return [deps.processId];
    const beats = await deps.store.beats();
    for (const id of seen.keys()) if (!beats.has(id)) seen.delete(id);
    for (const [id, beat] of beats)
      seen.set(id, { beat, looks: seen.get(id)?.beat === beat ? (seen.get(id)?.looks ?? 0) + 1 : 0 });
    return [...beats.keys()].filter((id) => id === deps.processId || (seen.get(id)?.looks ?? 0) < SILENT_LOOKS);
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
      for (let looks = 0; looks <= SILENT_LOOKS; looks += 1) {
        const alive = await aliveNow();
        while ((await recoverCreates(deps, alive)) > 0);
        await bury(deps, alive);
        if (exclusive || (await deps.store.abandoned([deps.processId], 1)).length === 0) return;
        await deps.clock.sleep(LOOK_MS);
      }
    },
  };
}

/** What a dead process was looking at is free again at once. */
async function bury({ store }: Deps, alive: readonly string[]): Promise<void> {
  for (const id of (await store.beats()).keys()) {
    if (alive.includes(id)) continue;
    await store.dropLeases(id);
    await store.forget(id);
  }
}
