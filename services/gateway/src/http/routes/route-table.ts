import { METHODS } from 'node:http';
import Router from '@koa/router';
import { toRouterPath, withoutLastSlash } from './route.ts';
import type { RouteEntry } from './route.ts';

/**
 * Words that never are ids below these paths. SDKs use them for features that this service lacks; `estimate` and `models`
 * have routes of their own.
 */
const NOT_IDS: readonly (readonly [path: string, words: readonly string[]])[] = [
  ['/v1/videos/{', ['edits', 'extensions', 'characters', 'estimate', 'models']],
  ['/v1/batches/{batch_id}', ['estimate']],
];
const MODEL = '/models/{model}';

type Layer = ReturnType<Router['match']>['path'][number];

/** The route of a request, and the parameters of its path. */
export interface FoundRoute {
  readonly entry: RouteEntry;
  readonly params: Readonly<Record<string, string>>;
}

export interface RouteTable {
  /** Returns the first route that matches; undefined if no route matches. */
  find(method: string, path: string): FoundRoute | undefined;
  /** The methods that a path allows, sorted; empty if no route has the path. */
  methodsAt(path: string): readonly string[];
}

interface Row {
  readonly entry: RouteEntry;
  /** Returns the router's own matcher of the path. */
  readonly layer: () => Layer;
  /** The actions on a model that other routes have. */
  readonly modelActions: readonly string[];
}

const NO_PARAMS = {};
/** The number of first segments of a path that choose the routes to try. */
const HEAD_SEGMENTS = 2;

/**
 * The router tries the pattern of every route, which takes 10 µs for each request with 60 routes. The table finds a
 * path without parameters in a map, and tries for any other path only the patterns with the same first segments. It
 * compiles a pattern when a request first needs it, which takes 15 % off the start of the program.
 */
export function routeTable(routes: readonly RouteEntry[]): RouteTable {
  const router = new Router({ sensitive: true });
  const modelActions = listModelActions(routes);
  const rows = routes.map((entry) => newRow(router, entry, modelActions));
  const fixed = indexFixedRoutes(routes);
  const heads = new Set(routes.map(({ path }) => toPathHead(path)));
  const byHead = new Map<string, readonly Row[]>();
  const rowsAt = (path: string): readonly Row[] => {
    const head = toPathHead(path);
    if (!heads.has(head)) return rows;
    const known = byHead.get(head) ?? rows.filter(({ entry }) => canMatch(entry.path, head));
    byHead.set(head, known);
    return known;
  };
  return {
    find: (method, path) => fixed.get(path)?.get(method) ?? findFirstMatch(rowsAt(path), method, path),
    methodsAt: (path) =>
      [
        ...new Set(
          rowsAt(path)
            .filter((row) => matchRow(row, path) !== undefined)
            .flatMap(({ layer }) => layer().methods),
        ),
      ].toSorted(),
  };
}

/** Lists the actions on a model, such as `:generateContent`, which follow its id in a path. */
function listModelActions(routes: readonly RouteEntry[]): readonly string[] {
  return [...new Set(routes.flatMap(({ path }) => /\{model\}(:\w+)$/.exec(path)?.[1] ?? []))];
}

function newRow(router: Router, entry: RouteEntry, modelActions: readonly string[]): Row {
  const methods = entry.methods === 'all' ? METHODS.filter((method) => method !== 'CONNECT') : [...entry.methods];
  let layer: Layer | undefined;
  return {
    entry,
    modelActions,
    // one path registers one layer
    layer: () => (layer ??= router.register(toRouterPath(entry.path), methods, () => undefined) as Layer),
  };
}

function findFirstMatch(rows: readonly Row[], method: string, path: string): FoundRoute | undefined {
  for (const row of rows) {
    if (!row.layer().methods.includes(method)) continue;
    const params = matchRow(row, path);
    if (params !== undefined) return { entry: row.entry, params };
  }
  return undefined;
}

/** Returns the parameters of a path that a route matches; undefined if the route does not mean this path. */
function matchRow({ entry, layer, modelActions }: Row, path: string): Readonly<Record<string, string>> | undefined {
  const { regexp } = layer();
  // the router would count a last slash to the id of a model
  const found = regexp.exec(entry.path.endsWith(MODEL) ? withoutLastSlash(path) : path);
  if (found === null) return undefined;
  const params = layer().params(path, found.slice(1));
  const isOther =
    isReservedId(entry, params) || isModelAction(entry, params, modelActions) || isBeyondRest(entry, params);
  return isOther ? undefined : params;
}

/** The first route that matches handles a request, as among all routes. */
function indexFixedRoutes(routes: readonly RouteEntry[]): ReadonlyMap<string, ReadonlyMap<string, FoundRoute>> {
  const fixed = new Map<string, Map<string, FoundRoute>>();
  for (const entry of routes) {
    if (entry.methods === 'all' || entry.path.includes('{')) continue;
    const byMethod = fixed.get(entry.path) ?? new Map<string, FoundRoute>();
    fixed.set(entry.path, byMethod);
    for (const method of entry.methods) if (!byMethod.has(method)) byMethod.set(method, { entry, params: NO_PARAMS });
  }
  return fixed;
}

/** Returns the first segments of a path, such as `/v1/videos`. */
function toPathHead(path: string): string {
  let end = 0;
  for (let segment = 0; segment < HEAD_SEGMENTS; segment += 1) {
    end = path.indexOf('/', end + 1);
    if (end < 0) return path;
  }
  return path.slice(0, end);
}

/** Reports whether a path with these first segments can match a route. A parameter can stand for any segment. */
function canMatch(route: string, head: string): boolean {
  const given = head.split('/');
  return toPathHead(route)
    .split('/')
    .every((segment, at) => segment === given[at] || segment.includes('{'));
}

/** Reports whether the rest of a path, which can have several segments, begins with an empty one. */
function isBeyondRest({ path }: RouteEntry, params: Readonly<Record<string, string>>): boolean {
  return path.includes('{+') && Object.values(params).some((param) => param.startsWith('/'));
}

/** Reports whether the id in a path that matches a route is a reserved word, which gives the path another meaning. */
function isReservedId({ path }: RouteEntry, params: Readonly<Record<string, string>>): boolean {
  const [, words] = NOT_IDS.find(([start]) => path.startsWith(start)) ?? [];
  return words !== undefined && Object.values(params).some((param) => words.includes(param));
}

/** Reports whether the id of a model in a path ends with an action, which is a route of its own. */
function isModelAction(
  { path }: RouteEntry,
  params: Readonly<Record<string, string>>,
  actions: readonly string[],
): boolean {
  return path.endsWith(MODEL) && actions.some((action) => params['model']?.endsWith(action));
}
