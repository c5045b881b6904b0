import type { Dialect } from '../../dialects/dialect.ts';
import { asyncRoutes } from './async-routes.ts';
import { callbackRoutes } from './callback-routes.ts';
import { contentRoutes } from './content-routes.ts';
import { estimateRoute } from './estimate-route.ts';
import { eventStreamRoute } from './event-stream-route.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import { homeRoute } from './home-route.ts';
import { modelRoutes } from './model-routes.ts';
import { pageRoutes } from './page-routes.ts';
import { realtimeRoute } from './relay-routes.ts';
import { relayRoutes } from './relay-routes.ts';
import type { RouteEntry } from './route.ts';
import { taskRoutes } from './task-routes.ts';
import { notImplementedRoutes } from './unsupported-routes.ts';
import { usageRoute } from './usage-route.ts';
import { webhookDeliveryRoutes } from './webhook-delivery-routes.ts';
import { webhookRoutes } from './webhook-routes.ts';

/** Every route of the gateway. The first route that matches a request handles it. */
export function gatewayRoutes(
  dialects: readonly Dialect[],
  parts: GatewayParts,
  publicUrl: string,
): readonly RouteEntry[] {
  const routes = [
    estimateRoute(
      dialects.flatMap(({ creates }) => creates),
      parts,
    ),
    ...taskRoutes(dialects, parts),
    ...contentRoutes(parts),
    ...modelRoutes(parts),
    usageRoute(parts),
    ...webhookRoutes(parts),
    ...webhookDeliveryRoutes(parts),
    eventStreamRoute(parts),
    ...relayRoutes(parts),
    realtimeRoute(),
    ...asyncRoutes(parts),
    ...notImplementedRoutes(),
    homeRoute(publicUrl),
  ];
  return [...routes, ...pageRoutes(routes, publicUrl), ...callbackRoutes(parts)];
}
