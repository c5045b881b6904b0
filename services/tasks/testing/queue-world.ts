import { until } from '@reelgate/platform/testing/until';
import { turnTaker } from '../src/workers/take-turns.ts';
import type { TurnTaker } from '../src/workers/take-turns.ts';
import { channelSettings } from './channel-settings.ts';
import { useWorlds } from './open-world.ts';
import type { World, WorldOptions } from './open-world.ts';

const MINUTE_MS = 60_000;
const SCOPES = ['token:token_1', 'total', 'channel:main'];

export const QUEUE = {
  perAccount: 100,
  total: 200,
  longestWaitMs: { interactive: MINUTE_MS, standard: 10 * MINUTE_MS, batch: 600 * MINUTE_MS },
};
/** The lane of the orders of the tests. */
export const LANE = '["generation","Alpha-H3",null,[],"standard"]';

export interface QueueWorld extends World {
  readonly turns: TurnTaker;
  /** One pass, and the submissions that it starts. Returns the time until the next one. */
  pass(): Promise<number>;
}

/** Opens worlds whose creates wait, and whose channel has one place. They are closed after the test. */
export function useQueueWorlds(): (options?: WorldOptions, replicas?: number) => Promise<QueueWorld> {
  const open = useWorlds();
  return async (options = {}, replicas = 1) => {
    const world = await open({ channels: [channelSettings({ inFlightMax: 1 })], queue: QUEUE, ...options });
    const turns = turnTaker(
      world.deps,
      () => replicas,
      () => undefined,
    );
    return {
      ...world,
      turns,
      pass: async () => {
        const result = await turns.pass();
        await until(() => world.deps.creating.size === 0);
        return typeof result === 'number' ? 0 : result.dueAt - world.clock.now();
      },
    };
  };
}

/** Creates a task that takes the only place of the channel. */
export async function fill(world: World): Promise<string> {
  return (await world.create()).task.id;
}

/** The tasks that count for the token of the tests, for all tokens and for the channel. */
export function countScopes({ deps }: World): Promise<readonly number[]> {
  return Promise.all(SCOPES.map((scope) => deps.store.inFlight(scope)));
}

/** The tasks whose money is held. */
export function listHeld({ billing }: World): readonly string[] {
  return [...billing.holds].flatMap(([id, { state }]) => (state === 'held' ? [id] : []));
}
