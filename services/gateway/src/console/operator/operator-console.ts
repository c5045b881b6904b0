import type { Foundation } from '@reelgate/platform/foundation';
import { openWrongKeys } from '@reelgate/platform/limits/wrong-keys';
import type { ReadSource } from '@reelgate/platform/source-address';
import type { HttpRoute } from '@reelgate/platform/http/http-route';
import type { OperatorClients } from '../../clients/operator-clients.ts';
import type { TaskPages } from '../../clients/task-pages-client.ts';
import type { ConsoleConfig } from '../../config.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import { openOperatorDoor } from '../../operations/operator-door.ts';
import { koaApp } from '../../http/koa-app.ts';
import type { observer } from '../../http/observe.ts';
import type { ChannelPauses } from '../../relay/channels/channel-pauses.ts';
import type { RelayChannels } from '../../relay/channels/relay-channels.ts';
import { assetRoutes } from '../assets/asset-routes.ts';
import type { Assets } from '../assets/prepare-assets.ts';
import { operatorSessions } from '../session/operator-sessions.ts';
import { sessionSeal } from '../session/seal-session.ts';
import { sessionCookie } from '../session/session-cookie.ts';
import type { FollowParts } from '../stream/follow-changes.ts';
import { operatorStreamRoute } from '../stream/operator-stream-route.ts';
import type { StreamParts } from '../stream/serve-stream.ts';
import { operatorPages } from './operator-pages.ts';
import { operatorSessionRoutes } from './operator-session-routes.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { operatorsOf } from './operators-of.ts';
import type { OperatorsConfig } from './operators-of.ts';

const COOKIE = 'reelgate-operator';
const PURPOSE = 'operator-session';

export interface OperatorConsoleDeps {
  readonly foundation: Foundation;
  readonly assets: () => Promise<Assets>;
  /** What the stream of changes is made of. */
  readonly streams: StreamParts & FollowParts;
  readonly clients: OperatorClients;
  readonly relay: Pick<RelayChannels, 'all'>;
  readonly pauses: Pick<ChannelPauses, 'of' | 'refresh'>;
  readonly taskPages: Pick<TaskPages, 'timeline'>;
  readonly budget: BodyBudget;
  readonly observe: ReturnType<typeof observer>;
  readonly readSource: ReadSource;
}

/** The console of operators on the admin port. It takes the requests below `/console`, if there are operators. */
export function operatorConsole(
  { admin, console }: OperatorsConfig & { readonly console: Pick<ConsoleConfig, 'sessionMs'> },
  { foundation, assets, streams, budget, observe, readSource, ...pages }: OperatorConsoleDeps,
): HttpRoute {
  const { clock, random, acceptedKeys, newId, log, metrics, tracing } = foundation;
  const { sessionMs } = console;
  const operators = operatorsOf({ admin, console }, foundation.signingKey);
  if (operators.length === 0) return () => false;
  const sessions = operatorSessions({
    seal: sessionSeal({ keys: acceptedKeys, purpose: PURPOSE, lifetimeMs: sessionMs, clock, random }),
    // the admin port speaks plain http, behind a proxy or on the loopback address
    cookie: sessionCookie({ name: COOKIE, lifetimeMs: sessionMs, isSecure: false }),
    operators,
  });
  const door = openOperatorDoor(clock, openWrongKeys({ door: 'operators', clock, log, metrics }));
  const routes: readonly OperatorRouteEntry[] = [
    ...operatorSessionRoutes({ clock, budget, door }, sessions),
    ...operatorPages({ clock, newId, log, budget, ...pages }),
    operatorStreamRoute(streams, sessions),
    ...assetRoutes('operator', assets),
  ];
  const app = koaApp({
    routes,
    admit: (exchange, { role }: OperatorRouteEntry) => {
      if (role !== undefined) exchange.state.operator = sessions.operatorOf(exchange, role);
    },
    observe,
    clock,
    newId,
    log,
    tracing,
    readSource,
  });
  const handle = app.callback();
  return (request, response) => {
    const [path = ''] = (request.url ?? '').split('?', 1);
    if (path !== '/console' && !path.startsWith('/console/')) return false;
    void handle(request, response);
    return true;
  };
}
