import type { Dialect } from './dialects/dialect.ts';
import { agentRoutes } from './pages/agent-routes.ts';
import { asyncRoutes } from './jobs/async-routes.ts';
import type { AsyncRouteParts } from './jobs/async-routes.ts';
import { listBatchEndpoints } from './batches/batch-endpoints.ts';
import { estimateBatchRoute } from './batches/batch-estimate-route.ts';
import type { BatchEstimateParts } from './batches/batch-estimate-route.ts';
import { batchRoutes } from './batches/batch-routes.ts';
import type { BatchRouteParts } from './batches/batch-routes.ts';
import { callbackRoutes } from './http/routes/callback-routes.ts';
import type { CallbackRouteParts } from './http/routes/callback-routes.ts';
import { contentRoutes } from './http/routes/content-routes.ts';
import type { ContentRouteParts } from './http/routes/content-routes.ts';
import { estimateRoute } from './http/routes/estimate-route.ts';
import type { EstimateRouteParts } from './http/routes/estimate-route.ts';
import { eventStreamRoute } from './webhooks/event-stream-route.ts';
import type { EventStreamParts } from './webhooks/event-stream-route.ts';
import { fileRoutes } from './batches/file-routes.ts';
import type { FileRouteParts } from './batches/file-routes.ts';
import { modelRoutes } from './models/model-routes.ts';
import type { ModelRouteParts } from './models/model-routes.ts';
import { homeRoute, pageRoutes } from './pages/page-routes.ts';
import { realtimeRoute, relayRoutes } from './relay/routes/relay-routes.ts';
import type { RelayRouteParts } from './relay/routes/relay-routes.ts';
import type { RouteEntry } from './http/routes/route.ts';
import { taskRoutes } from './http/routes/task-routes.ts';
import type { TaskRouteParts } from './http/routes/task-routes.ts';
import { usageRoute } from './http/routes/account-usage-route.ts';
import type { UsageRouteParts } from './http/routes/account-usage-route.ts';
import { listChargesRoute } from './http/routes/charged-items-route.ts';
import type { ChargesRouteParts } from './http/routes/charged-items-route.ts';
import { notImplementedRoutes, UNSUPPORTED, WITHOUT_BATCHES } from './http/routes/unsupported-routes.ts';
import { videoModelRoutes } from './models/video-model-routes.ts';
import type { VideoModelRouteParts } from './models/video-model-routes.ts';
import { webhookRoutes } from './webhooks/webhook-routes.ts';
import type { WebhookRouteParts } from './webhooks/webhook-routes.ts';

/** The parts of all routes together. Each route takes the ones that it names. */
export type RouteParts = AsyncRouteParts &
  BatchEstimateParts &
  BatchRouteParts &
  CallbackRouteParts &
  ChargesRouteParts &
  ContentRouteParts &
  EstimateRouteParts &
  EventStreamParts &
  FileRouteParts &
  ModelRouteParts &
  RelayRouteParts &
  TaskRouteParts &
  UsageRouteParts &
  VideoModelRouteParts &
  WebhookRouteParts;

/**
 * Every route of the gateway, with the tools for agents if there are any. The first route that matches a request handles
 * it.
 */
export function gatewayRoutes(
  dialects: readonly Dialect[],
  parts: RouteParts,
  publicUrl: string,
  { hasBatches, agentTools = [] }: { readonly hasBatches: boolean; readonly agentTools?: readonly RouteEntry[] },
): readonly RouteEntry[] {
  const routes = [
    estimateRoute(
      dialects.flatMap(({ creates }) => creates),
      parts,
    ),
    ...taskRoutes(dialects, parts),
    ...contentRoutes(parts),
    ...modelRoutes(parts),
    ...videoModelRoutes(parts),
    usageRoute(parts),
    listChargesRoute(parts),
    ...webhookRoutes(parts),
    eventStreamRoute(parts),
    ...relayRoutes(parts),
    realtimeRoute(),
    ...asyncRoutes(parts),
    ...agentTools,
    ...(hasBatches
      ? [...fileRoutes(parts), estimateBatchRoute(parts, listBatchEndpoints(dialects)), ...batchRoutes(parts)]
      : notImplementedRoutes(WITHOUT_BATCHES)),
    ...notImplementedRoutes(UNSUPPORTED),
    homeRoute(publicUrl),
  ];
  return [...routes, ...agentRoutes(routes, publicUrl), ...pageRoutes(routes, publicUrl), ...callbackRoutes(parts)];
}
