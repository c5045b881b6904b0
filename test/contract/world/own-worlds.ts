import { startSandbox } from '../../../deploy/local/sandbox/sandbox.ts';
import { freePorts } from '../../harness/free-ports.ts';
import { newProgram } from '../../harness/program.ts';
import type { Program } from '../../harness/program.ts';
import { RELAY_KEYS } from '../../harness/relay-upstream/identities.ts';
import { startRelayUpstream } from '../../harness/relay-upstream/relay-upstream.ts';
import { CHANNEL, UPSTREAM_KEY, UPSTREAM_MODEL } from '../../harness/test-config.ts';
import type { Setting } from '../engine/row.ts';
import type { Worlds } from '../engine/run-rows.ts';
import { fixture, startMediaOrigin } from './media-origin.ts';
import type { MediaOrigin } from './media-origin.ts';
import { PRICES, TOKENS, contractConfig, tokenOf } from './contract-config.ts';
import type { Addresses } from './contract-config.ts';
import { sharedTasks } from './shared-tasks.ts';
import type { World } from './world.ts';

export interface OwnWorlds extends Worlds {
  end(): Promise<void>;
}

const SETTINGS: readonly Setting[] = ['standard', 'no price of regeneration', 'free regeneration'];

/** Programs that the suite starts itself, one for each setting, with the sandbox and a relay upstream behind them. */
export async function startOwnWorlds(): Promise<OwnWorlds> {
  // Each rendering gives the same real video, because the contract does not cover its pictures.
  const sandbox = await startSandbox({
    listen: '127.0.0.1:0',
    key: UPSTREAM_KEY,
    render: async () => fixture('768p.mp4'),
  });
  const [origin, relay, [closedPort = 0]] = await Promise.all([startMediaOrigin(), startRelayUpstream(), freePorts(1)]);
  const addresses: Addresses = {
    sandbox: new URL(sandbox.url).host,
    origin: origin.host,
    relay: relay.host,
    closed: `127.0.0.1:${closedPort}`,
  };
  const programs = new Map<Setting, Program>();
  for (const setting of SETTINGS) {
    const change = contractConfig(addresses, PRICES[setting]);
    programs.set(setting, await newProgram('one program', { upstream: addresses.sandbox }, change));
  }
  const end = async (): Promise<void> => {
    await Promise.all([...programs.values()].map(async (program) => program.end()));
    await Promise.all([origin.stop(), relay.stop(), sandbox.stop()]);
  };
  try {
    await Promise.all([...programs.values()].map(async (program) => program.start()));
  } catch (error) {
    await end();
    throw error;
  }
  const secrets = [
    UPSTREAM_KEY,
    UPSTREAM_MODEL,
    CHANNEL,
    addresses.sandbox,
    addresses.relay,
    ...Object.values(RELAY_KEYS),
  ];
  const worlds = new Map(
    [...programs].map(([setting, program]) => [setting, worldOf(program, origin, secrets)] as const),
  );
  return {
    of: (setting) => worlds.get(setting),
    has: () => true,
    end,
  };
}

function worldOf(program: Program, origin: MediaOrigin, secrets: readonly string[]): World {
  const task = sharedTasks(() => world);
  const values: Readonly<Record<string, string>> = {
    media: `http://${origin.host}`,
    base: program.base,
    token: tokenOf('main', TOKENS) ?? '',
  };
  const world: World = {
    base: program.base,
    secrets,
    token: (account) => tokenOf(account, TOKENS),
    value: async (name) => values[name] ?? task(name),
    own: { origin, command: program.command },
  };
  return world;
}
