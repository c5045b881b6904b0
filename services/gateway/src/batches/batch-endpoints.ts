import type { Dialect } from '../dialects/dialect.ts';
import { relayEndpoints } from '../relay/endpoints.ts';
import type { BatchEndpoint } from './batch-endpoint.ts';
import { callEndpoint } from './call-lines.ts';
import { videoEndpoint } from './video-lines.ts';

/** The routes of creates that a batch can call, and the reads that show what they made. One line adds a route. */
const VIDEO_ROUTES: readonly { readonly create: string; readonly read: string }[] = [
  { create: '/v1/videos', read: '/v1/videos/{task_id}' },
];

/** The relayed routes that a batch can call. One line adds a route. */
const CALL_ROUTES: readonly string[] = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/embeddings',
  '/v1/images/generations',
  '/v1/images/edits',
];

/** The paths of the endpoints whose lines have a price before they begin. */
export const PRICED_PATHS: readonly string[] = VIDEO_ROUTES.map(({ create }) => create);

/** The paths of the endpoints of batches, for their documentation. */
export const BATCH_PATHS: readonly string[] = [...PRICED_PATHS, ...CALL_ROUTES];

/** Finds the routes. Throws for one that no dialect and no relayed endpoint has. */
export function listBatchEndpoints(dialects: readonly Dialect[]): ReadonlyMap<string, BatchEndpoint> {
  const endpoints = [
    ...VIDEO_ROUTES.map(({ create, read }) =>
      videoEndpoint(
        findRoute(
          create,
          dialects.flatMap(({ creates }) => creates),
        ),
        findRoute(
          read,
          dialects.flatMap(({ reads }) => reads),
        ),
      ),
    ),
    ...CALL_ROUTES.map((path) => callEndpoint(findRoute(path, relayEndpoints))),
  ];
  return new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));
}

function findRoute<T extends { readonly path: string }>(path: string, routes: readonly T[]): T {
  const found = routes.find((route) => route.path === path);
  if (found === undefined) throw new Error(`no route is ${path}`);
  return found;
}
