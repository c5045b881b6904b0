import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Foundation } from '@reelgate/platform/foundation';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { ReadSource } from '@reelgate/platform/source-address';
import type { GatewayClients } from '../clients/gateway-clients.ts';
import { accountBooks } from '../clients/money-client.ts';
import { sessionRecords } from '../clients/sessions-client.ts';
import { taskPages } from '../clients/tasks-client.ts';
import { tokensClient } from '../clients/tokens-client.ts';
import { onServiceSignals } from '../events/subscriptions.ts';
import type { observer } from '../http/observe.ts';
import type { RouteEntry } from '../http/routes/route.ts';
import { openConsoleStreamPermits } from '../operations/stream-permits.ts';
import type { TaskChanges } from '../operations/task-changes.ts';
import { openServiceSignals } from '../operations/task-changes.ts';
import type { ChannelPauses } from '../relay/channels/channel-pauses.ts';
import type { RelayChannels } from '../relay/channels/relay-channels.ts';
import type { DoorAssets } from './assets/prepare-assets.ts';
import { clientConsoleRoutes, openClientSessions } from './client/client-console.ts';
import type { ClientConsoleParts } from './client/client-console.ts';
import { operatorConsole } from './operator/operator-console.ts';
import type { OperatorConsole, OperatorConsoleConfig } from './operator/operator-console.ts';
import type { ClientSessions } from './session/client-sessions.ts';
import { followEndedSessions } from './session/ended-sessions.ts';

export interface Consoles {
  readonly sessions: ClientSessions;
  /** Of the public port; none if the configuration has no console for clients. */
  readonly clientRoutes: readonly RouteEntry[];
  /** Of the admin port. */
  readonly operator: OperatorConsole;
}

export interface ConsolesConfig extends OperatorConsoleConfig {
  readonly console: OperatorConsoleConfig['console'] & {
    /** True if the public port has the console for clients. */
    readonly isForClients: boolean;
  };
}

/** The parts of `app.ts` that the consoles need. Each console adds the parts of its pages. */
export interface ConsoleParts extends Omit<ClientConsoleParts, 'taskPages' | 'tokens' | 'publicUrl'> {
  readonly changes: TaskChanges;
  readonly readSource: ReadSource;
  /** Aborted when the gateway stops. */
  readonly stopping: AbortSignal;
}

export interface ConsolesDeps {
  readonly foundation: Foundation;
  readonly clients: GatewayClients;
  readonly parts: ConsoleParts;
  /** The routes of the public API. */
  readonly api: readonly RouteEntry[];
  readonly observe: ReturnType<typeof observer>;
  readonly channels: RelayChannels;
  readonly pauses: ChannelPauses;
}

/** The consoles of both doors. Each serves the files of its own pages. */
export async function openConsoles(
  config: ConsolesConfig,
  { foundation, clients, parts, api, observe, channels, pauses }: ConsolesDeps,
  lifecycle: Lifecycle,
): Promise<Consoles> {
  const signals = openServiceSignals();
  const heard = await onServiceSignals(foundation.bus, signals);
  lifecycle.add('signals of services', async () => {
    await Promise.all(heard.map((one) => one.stop()));
  });
  const { clock, changes, stopping } = parts;
  const { log } = foundation;
  const ended = followEndedSessions({ records: sessionRecords(clients.sessions), clock, log, stopping });
  const streams = { clock, changes, stopping, signals, permits: openConsoleStreamPermits() };
  const assets = loadAssets();
  const sessions = openClientSessions(config.console.sessionMs, foundation, ended);
  const pageReads = {
    books: accountBooks(clients),
    taskPages: taskPages(clients.tasks),
    tokens: tokensClient(clients.accounts),
    publicUrl: foundation.publicUrl,
  };
  return {
    sessions,
    clientRoutes: config.console.isForClients
      ? clientConsoleRoutes(sessions, { parts: { ...parts, ...pageReads }, streams, assets, api })
      : [],
    operator: operatorConsole(config, {
      foundation,
      assets,
      streams,
      clients: clients.operator,
      relay: channels,
      pauses,
      taskPages: pageReads.taskPages,
      budget: parts.budget,
      observe,
      readSource: parts.readSource,
      ended,
    }),
  };
}

/** The files of both doors. They are prepared at the first request, so a gateway without visitors pays nothing. */
function loadAssets(): () => Promise<DoorAssets> {
  let loading: Promise<DoorAssets> | undefined;
  return () => {
    loading ??= inThread().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
}

async function inThread(): Promise<DoorAssets> {
  const worker = new Worker(new URL('./assets/asset-worker.ts', import.meta.url));
  try {
    const [assets] = (await once(worker, 'message')) as [DoorAssets];
    return assets;
  } finally {
    await worker.terminate();
  }
}
