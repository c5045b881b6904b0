import type { CreateRoute, Dialect, ReadRoute } from '../dialects/dialect.ts';

/** A route that the lines of a batch can call. */
export interface BatchEndpoint {
  readonly path: string;
  readonly decode: CreateRoute['decode'];
  readonly encode: ReadRoute['encode'];
}

/** The routes of creates that a batch can call, and the reads that show what they made. One line adds a route. */
const ROUTES: readonly { readonly create: string; readonly read: string }[] = [
  { create: '/v1/videos', read: '/v1/videos/{task_id}' },
];

/** The paths of the endpoints of batches, for their documentation. */
export const BATCH_PATHS: readonly string[] = ROUTES.map(({ create }) => create);

/** Finds the routes in the dialects. Throws for one that no dialect has. */
export function listBatchEndpoints(dialects: readonly Dialect[]): ReadonlyMap<string, BatchEndpoint> {
  return new Map(
    ROUTES.map(({ create, read }) => {
      const created = dialects.flatMap(({ creates }) => creates).find(({ path }) => path === create);
      const shown = dialects.flatMap(({ reads }) => reads).find(({ path }) => path === read);
      if (created === undefined || shown === undefined) throw new Error(`no dialect has ${create} and ${read}`);
      return [
        create,
        {
          path: create,
          decode: (body, context) => created.decode(body, context),
          encode: (task, links) => shown.encode(task, links),
        },
      ];
    }),
  );
}
