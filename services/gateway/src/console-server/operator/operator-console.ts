import type { Foundation } from '@reelgate/platform/foundation';
import { newWrongKeys } from '@reelgate/platform/limits/wrong-keys';
import type { ReadSource } from '@reelgate/platform/source-address';
import type { HttpRoute } from '@reelgate/platform/http/http-port';
import { thenMaybe } from '@reelgate/platform/maybe-promise';
import { watchStatus } from './status.ts';
import type { OperatorClients, ReadConfiguration } from '../../clients/gateway-clients.ts';
import type { TaskPages } from '../../clients/tasks-client.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import { openOperatorDoor } from '../../operations/operator-door.ts';
import { readPrefix, withoutPrefix } from '@reelgate/platform/http/path-prefix';
import { koaApp } from '../../http/koa-app.ts';
import type { observer } from '../../http/observe.ts';
import { readRemovedPrefix } from '../../http/removed-prefix.ts';
import type { ChannelPauses } from '../../relay/channels/channel-pauses.ts';
import type { RelayChannels } from '../../relay/channels/relay-channels.ts';
import { assetRoutes } from '../assets/asset-routes.ts';
import type { DoorAssets } from '../assets/prepare-assets.ts';
import type { EndedSessions } from '../session/ended-sessions.ts';
import { operatorsInUse, listOperators } from '../session/operators-in-use.ts';
import { operatorSessions, formatSubject } from '../session/operator-sessions.ts';
import { sessionSeal } from '../session/seal-session.ts';
import { sessionCookie } from '../session/session-cookie.ts';
import type { FollowParts } from '../stream/follow-changes.ts';
import { operatorStreamRoute } from '../stream/stream-routes.ts';
import type { StreamParts } from '../stream/serve-stream.ts';
import { operatorSessionRoutes } from './operator-session-routes.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import type { OperatorsConfig } from '../session/operators-in-use.ts';
import type { ConfigurationView } from '../../../console/api/operator-configuration.ts';
import { accountBooks } from '../../clients/money-client.ts';
import { tokensClient } from '../../clients/tokens-client.ts';
import { webhooksClient } from '../../clients/webhooks-client.ts';
import { callsRoute } from './calls-route.ts';
import { marginsFileRoute } from './margins-file-route.ts';
import { nowRoute } from './now-route.ts';
import type { NowParts } from './now-route.ts';
import { operatorRoute } from './operator-route.ts';
import { applyPauses, relayChannelsRoutes } from './relay-channels-routes.ts';
import { operatorTaskRoute } from './task-route.ts';

const COOKIE = 'reelgate-operator';
const PURPOSE = 'operator-session';
const PLAIN = { origin: undefined, protocol: 'http:' };

export interface OperatorConsoleDeps {
  readonly foundation: Foundation;
  readonly assets: () => Promise<DoorAssets>;
  /** The parts of the stream of changes. */
  readonly streams: StreamParts & FollowParts;
  readonly clients: OperatorClients;
  readonly relay: RelayChannels;
  readonly pauses: ChannelPauses;
  readonly taskPages: TaskPages;
  readonly budget: BodyBudget;
  readonly observe: ReturnType<typeof observer>;
  readonly readSource: ReadSource;
  readonly ended: EndedSessions;
}

export interface OperatorConsoleConfig extends OperatorsConfig {
  readonly adminUrl: string | undefined;
  readonly console: OperatorsConfig['console'] & { readonly sessionMs: number };
}

export interface OperatorConsole {
  /** Takes the requests below `/console` while there are operators. */
  readonly route: HttpRoute;
  /**
   * Takes up the operators of a new configuration. An operator that is gone or has less than before loses the
   * sessions.
   */
  takeUp(config: OperatorsConfig): void;
}

/** The console of operators on the admin port. */
export function operatorConsole(
  config: OperatorConsoleConfig,
  { foundation, assets, streams, budget, observe, readSource, ended, ...pages }: OperatorConsoleDeps,
): OperatorConsole {
  const { clock, random, acceptedKeys, newId, log, metrics, tracing, signingKey } = foundation;
  const { sessionMs } = config.console;
  const inUse = operatorsInUse(listOperators(config, signingKey));
  // the port itself speaks plain http: on the loopback address, or behind a proxy that admin_url names
  const { origin, protocol } = config.adminUrl === undefined ? PLAIN : new URL(config.adminUrl);
  const prefix = config.adminUrl === undefined ? '' : readPrefix(config.adminUrl);
  const removed = config.adminUrl === undefined ? '' : readRemovedPrefix(config.adminUrl);
  const sessions = operatorSessions({
    seal: sessionSeal({ keys: acceptedKeys, purpose: PURPOSE, lifetimeMs: sessionMs, clock, random }),
    cookie: sessionCookie({ name: COOKIE, lifetimeMs: sessionMs, isSecure: protocol === 'https:', prefix }),
    publicOrigin: origin,
    ended,
    inUse,
  });
  const door = openOperatorDoor(clock, newWrongKeys({ door: 'operators', clock, log, metrics }));
  const readStatus = watchStatus({ clock, log, ...pages });
  const routes: readonly OperatorRouteEntry[] = [
    ...operatorSessionRoutes({ clock, log, budget, door, tasks: pages.clients.tasks, readStatus }, sessions),
    ...operatorPages({ clock, log, budget, ...pages }),
    operatorStreamRoute(streams, sessions),
    ...assetRoutes('operator', assets),
  ];
  const handle = koaApp({
    routes,
    admit: (exchange, { role }: OperatorRouteEntry) =>
      role === undefined
        ? undefined
        : thenMaybe(sessions.operatorOf(exchange, role), (operator) => {
            exchange.state.operator = operator;
          }),
    observe,
    clock,
    newId,
    log,
    tracing,
    readSource,
  });
  return {
    route: (request, response) => {
      request.url = withoutPrefix(request.url ?? '', removed);
      const [path = ''] = request.url.split('?', 1);
      if (inUse.isEmpty() || (path !== '/console' && !path.startsWith('/console/'))) return false;
      handle(request, response);
      return true;
    },
    takeUp: (next) => {
      for (const name of inUse.replace(listOperators(next, signingKey))) ended.endAllSoon(formatSubject(name));
    },
  };
}

/** The parts of the routes of the operators' pages. */
interface OperatorPagesParts extends NowParts {
  readonly budget: BodyBudget;
  /** The view of a task's life that its owner may see. */
  readonly taskPages: TaskPages;
}

/** The routes with which the pages of operators read and act. */
function operatorPages(parts: OperatorPagesParts): OperatorRouteEntry[] {
  const { clients } = parts;
  const tokens = tokensClient(clients.accounts);
  const [books, webhooks] = [accountBooks(clients, 'every'), webhooksClient(clients.webhooks)];
  return [
    callsRoute({ ...parts, clients: { ...clients, tasks: applyPauses(clients.tasks, parts.pauses) } }),
    nowRoute(parts),
    ...relayChannelsRoutes(parts),
    operatorTaskRoute({ ...parts, books, tokens, webhooks }),
    marginsFileRoute(parts),
    configurationRoute(clients.configuration),
  ];
}

/** The route for the configuration with which the process of this gateway runs. No service knows it. */
function configurationRoute(read: ReadConfiguration): OperatorRouteEntry {
  return operatorRoute({
    method: 'GET',
    path: '/configuration',
    name: 'getConfiguration',
    role: 'viewer',
    answer: (): ConfigurationView => read(),
  });
}
