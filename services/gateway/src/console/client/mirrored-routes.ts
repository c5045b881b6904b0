import type { RouteEntry } from '../../http/routes/route.ts';

/** The parts of the public API that pages use. */
const MIRRORED =
  /^\/(v1\/(videos|video\/generations|usage|models|webhook_endpoints|webhook_deliveries|webhook_event_types)|v2\/video_generation)(\/|$)/;

/** The same routes below `/console/api`, for the token that is signed in. A page and a program get the same answers. */
export function mirrorRoutes(routes: readonly RouteEntry[]): RouteEntry[] {
  return routes
    .filter(({ path, token, doc }) => token !== undefined && doc.isRelayed !== true && MIRRORED.test(path))
    .map((entry) => ({
      ...entry,
      path: `/console/api${entry.path}`,
      token: { counts: entry.token?.counts === 'creates' ? 'creates' : 'console', from: 'session' },
    }));
}
