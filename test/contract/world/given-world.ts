import type { Worlds } from '../engine/run-rows.ts';
import { tokenOf } from './contract-config.ts';
import { sharedTasks } from './shared-tasks.ts';
import type { World } from './world.ts';

export interface GivenAddress {
  readonly url: string;
  readonly token: string;
  /** Whether its upstream is the sandbox. */
  readonly sandbox: boolean;
}

/** A running gateway with a known address and one known token. */
export function givenWorld({ url, token, sandbox }: GivenAddress): Worlds {
  const task = sharedTasks(() => world);
  const base = url.replace(/\/+$/, '');
  // The media of a refused request are never fetched.
  const values: Readonly<Record<string, string>> = { base, token, media: 'https://media.example' };
  const world: World = {
    base,
    secrets: [],
    token: (account) => tokenOf(account, { main: token, refusals: token }),
    value: async (name) => values[name] ?? task(name),
  };
  return {
    of: (setting) => (setting === 'standard' ? world : undefined),
    has: (need) => need === 'sandbox' && sandbox,
  };
}
