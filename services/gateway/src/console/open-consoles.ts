import type { Foundation } from '@reelgate/platform/foundation';
import type { HttpRoute } from '@reelgate/platform/http/http-route';
import type { GatewayClients } from '../clients/gateway-clients.ts';
import { accountBooks } from '../clients/money-client.ts';
import { taskPages } from '../clients/task-pages-client.ts';
import { tokensClient } from '../clients/tokens-client.ts';
import type { ConsoleConfig } from '../config.ts';
import type { GatewayParts } from '../http/gateway-parts.ts';
import type { observer } from '../http/observe.ts';
import type { RouteEntry } from '../http/routes/route.ts';
import { loadAssets } from './assets/load-assets.ts';
import { clientConsoleRoutes, openClientSessions } from './client/client-console.ts';
import { operatorConsole } from './operator/operator-console.ts';
import type { ClientSessions } from './session/client-sessions.ts';

export interface Consoles {
  readonly sessions: ClientSessions;
  /** Of the public port; none if the configuration has no console for clients. */
  readonly clientRoutes: readonly RouteEntry[];
  /** Of the admin port. */
  readonly operator: HttpRoute;
}

export interface ConsolesDeps {
  readonly foundation: Foundation;
  readonly clients: GatewayClients;
  readonly parts: GatewayParts;
  /** The routes of the public API. */
  readonly api: readonly RouteEntry[];
  readonly observe: ReturnType<typeof observer>;
}

/** The consoles of both doors. They have the same files. */
export function openConsoles(
  config: ConsoleConfig,
  { foundation, clients, parts, api, observe }: ConsolesDeps,
): Consoles {
  const assets = loadAssets();
  const sessions = openClientSessions(config, foundation);
  const pageReads = {
    books: accountBooks(clients),
    taskPages: taskPages(clients.tasks),
    tokens: tokensClient(clients.accounts),
    publicUrl: foundation.publicUrl,
  };
  return {
    sessions,
    clientRoutes: config.isForClients
      ? clientConsoleRoutes(sessions, { parts: { ...parts, ...pageReads }, assets, api })
      : [],
    operator: operatorConsole(config, {
      foundation,
      assets,
      clients: clients.operator,
      budget: parts.budget,
      observe,
    }),
  };
}
