import type { Method, RouteEntry } from '../http/routes/route.ts';

/**
 * Finds a route by its method and its path as the table has it. Throws if the table has no such route, because a text
 * names it.
 */
export function findRoute(routes: readonly RouteEntry[], method: Method, path: string): RouteEntry {
  const found = routes.find((route) => route.path === path && listMethods(route).includes(method));
  if (found === undefined) throw new Error(`no route ${method} ${path}`);
  return found;
}

export function listMethods({ methods }: RouteEntry): readonly string[] {
  return methods === 'all' ? ['any method'] : methods;
}

/** The path as a page shows it. */
export function toShownPath({ path }: RouteEntry): string {
  return path.replace('{+', '{');
}
