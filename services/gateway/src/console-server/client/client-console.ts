import type { Foundation } from '@reelgate/platform/foundation';
import type { Log } from '@reelgate/platform/log';
import type { TryView } from '../../../console/api/try.ts';
import type { Catalogue } from '../../domain/model-defaults.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import { readPrefix } from '@reelgate/platform/http/path-prefix';
import { requirePrincipal } from '../../http/http-exchange.ts';
import type { RouteEntry } from '../../http/routes/route.ts';
import type { VideoModels } from '../../models/list-models.ts';
import { listVisibleModels } from '../../operations/principals.ts';
import { assetRoutes } from '../assets/asset-routes.ts';
import type { DoorAssets } from '../assets/prepare-assets.ts';
import { consoleRoute } from '../console-route.ts';
import { clientSessions } from '../session/client-sessions.ts';
import type { ClientSessions } from '../session/client-sessions.ts';
import type { EndedSessions } from '../session/ended-sessions.ts';
import { sessionSeal } from '../session/seal-session.ts';
import { sessionCookie } from '../session/session-cookie.ts';
import { clientStreamRoute } from '../stream/stream-routes.ts';
import type { FollowParts } from '../stream/follow-changes.ts';
import type { StreamParts } from '../stream/serve-stream.ts';
import { homeRoute } from './home-route.ts';
import { clientSessionRoutes } from './client-session-routes.ts';
import type { SessionRouteParts } from './client-session-routes.ts';
import { ifReadable, toAccountCaller } from './task-parts.ts';
import type { TaskPageParts } from './task-parts.ts';
import { taskRoute } from './task-route.ts';
import { tasksRoute } from './tasks-route.ts';
import { tokensRoutes } from './tokens-routes.ts';
import type { TokenPageParts } from './tokens-routes.ts';
import { consoleUsageRoute } from './usage-route.ts';
import { webhooksRoutes } from './webhooks-routes.ts';

/** The parts of the public API that pages use. */
const MIRRORED =
  /^\/(v1\/(videos|video\/generations|usage|models|webhook_endpoints|webhook_deliveries|webhook_event_types)|v2\/video_generation)(\/|$)/;
const COOKIE = 'reelgate-console';
const PURPOSE = 'console-session';

/** The parts that the console of clients needs. */
export type ClientConsoleParts = SessionRouteParts & TaskPageParts & TokenPageParts & TryParts;

interface TryParts {
  readonly log: Log;
  readonly catalogue: () => Catalogue;
  readonly limits: { readonly bodyBytes: number };
  readonly videoModels: VideoModels;
}

export interface ClientConsoleDeps {
  readonly foundation: Foundation;
  readonly parts: ClientConsoleParts;
  /** The parts of the stream of changes. */
  readonly streams: StreamParts & FollowParts;
  readonly assets: () => Promise<DoorAssets>;
  /** The routes of the public API. */
  readonly api: readonly RouteEntry[];
}

/** The sessions of clients at this gateway. */
export function openClientSessions(
  sessionMs: number,
  { clock, random, acceptedKeys, publicUrl }: ClientConsoleDeps['foundation'],
  ended: EndedSessions,
): ClientSessions {
  const { origin, protocol } = new URL(publicUrl);
  const prefix = readPrefix(publicUrl);
  return clientSessions({
    seal: sessionSeal({ keys: acceptedKeys, purpose: PURPOSE, lifetimeMs: sessionMs, clock, random }),
    cookie: sessionCookie({ name: COOKIE, lifetimeMs: sessionMs, isSecure: protocol === 'https:', prefix }),
    ended,
    publicOrigin: origin,
  });
}

/** The console of clients on the public port: its files, its sessions, and what its pages read and do. */
export function clientConsoleRoutes(
  sessions: ClientSessions,
  { parts, streams, assets, api }: Omit<ClientConsoleDeps, 'foundation'>,
): readonly RouteEntry[] {
  return [
    ...clientSessionRoutes(parts, sessions),
    homeRoute(parts),
    tasksRoute(parts),
    taskRoute(parts),
    consoleUsageRoute(parts),
    ...webhooksRoutes(parts),
    ...tokensRoutes(parts, sessions),
    tryRoute(parts),
    clientStreamRoute({ ...streams, principals: parts.principals }, sessions),
    ...mirrorRoutes(api),
    ...assetRoutes('client', assets),
  ];
}

/** The same routes below `/console/api`, for the token that is signed in. A page and a program get the same answers. */
function mirrorRoutes(routes: readonly RouteEntry[]): RouteEntry[] {
  return routes
    .filter(({ path, token, doc }) => token !== undefined && doc.isRelayed !== true && MIRRORED.test(path))
    .map((entry) => ({
      ...entry,
      path: `/console/api${entry.path}`,
      token: { counts: entry.token?.counts === 'creates' ? 'creates' : 'console', from: 'session' },
    }));
}

/** `GET /try`: what the token can order, and within which bounds. */
function tryRoute({ catalogue, limits, log, videoModels }: TryParts): RouteEntry {
  return consoleRoute({
    method: 'GET',
    path: '/try',
    name: 'getTry',
    answer: async (exchange): Promise<TryView> => {
      const principal = requirePrincipal(exchange);
      const current = catalogue();
      const caller = { ...toAccountCaller(exchange), tokenId: principal.tokenId };
      const orderable = (await ifReadable(log, 'limits of models', videoModels.list(caller))) ?? [];
      const known = new Map(orderable.map(({ id, generation }) => [id, generation]));
      return {
        models: listVisibleModels(principal, current).flatMap((id) => {
          const model = current.models.get(id);
          if (model === undefined) return [];
          const { operation, mediaRatios } = known.get(id) ?? {};
          return [{ id, ...model, ...dropUndefined({ promptMax: operation?.textMax, mediaRatios }) }];
        }),
        bodyBytesMax: limits.bodyBytes,
        webhooks: principal.webhooks === 'write',
      };
    },
  });
}
