import type { Foundation } from '@reelgate/platform/foundation';
import type { ConsoleConfig } from '../../config.ts';
import type { GatewayParts } from '../../http/gateway-parts.ts';
import type { RouteEntry } from '../../http/routes/route.ts';
import { assetRoutes } from '../assets/asset-routes.ts';
import type { DoorAssets } from '../assets/prepare-assets.ts';
import { clientSessions } from '../session/client-sessions.ts';
import type { ClientSessions } from '../session/client-sessions.ts';
import type { EndedSessions } from '../session/ended-sessions.ts';
import { sessionSeal } from '../session/seal-session.ts';
import { sessionCookie } from '../session/session-cookie.ts';
import { clientStreamRoute } from '../stream/client-stream-route.ts';
import type { FollowParts } from '../stream/follow-changes.ts';
import type { StreamParts } from '../stream/serve-stream.ts';
import { homeRoute } from './home-route.ts';
import { mirrorRoutes } from './mirrored-routes.ts';
import { sessionRoutes } from './session-routes.ts';
import type { TaskPageParts } from './task-parts.ts';
import { taskRoute } from './task-route.ts';
import { tasksRoute } from './tasks-route.ts';
import { tokensRoutes } from './tokens-routes.ts';
import type { TokenPageParts } from './tokens-routes.ts';
import { tryRoute } from './try-route.ts';
import { usageRoute } from './usage-route.ts';
import { webhooksRoutes } from './webhooks-routes.ts';

const COOKIE = 'reelgate-console';
const PURPOSE = 'console-session';

export interface ClientConsoleDeps {
  readonly foundation: Foundation;
  readonly parts: GatewayParts & TaskPageParts & TokenPageParts;
  /** The parts of the stream of changes. */
  readonly streams: StreamParts & FollowParts;
  readonly assets: () => Promise<DoorAssets>;
  /** The routes of the public API. */
  readonly api: readonly RouteEntry[];
}

/** The sessions of clients at this gateway. */
export function openClientSessions(
  { sessionMs }: ConsoleConfig,
  { clock, random, acceptedKeys, publicUrl }: ClientConsoleDeps['foundation'],
  ended: EndedSessions,
): ClientSessions {
  const { origin, protocol } = new URL(publicUrl);
  return clientSessions({
    seal: sessionSeal({ keys: acceptedKeys, purpose: PURPOSE, lifetimeMs: sessionMs, clock, random }),
    cookie: sessionCookie({ name: COOKIE, lifetimeMs: sessionMs, isSecure: protocol === 'https:' }),
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
    ...sessionRoutes(parts, sessions),
    homeRoute(parts),
    tasksRoute(parts),
    taskRoute(parts),
    usageRoute(parts),
    ...webhooksRoutes(parts),
    ...tokensRoutes(parts, sessions),
    tryRoute(parts),
    clientStreamRoute({ ...streams, principals: parts.principals }, sessions),
    ...mirrorRoutes(api),
    ...assetRoutes('client', assets),
  ];
}
