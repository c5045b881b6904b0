/** The client console on the public port, or the operator console on the admin port. */
export type Door = 'client' | 'operator';

/** A page: the pattern of its address below `/console`, and the module that draws it. */
export interface PageRoute {
  /** A segment such as `:taskId` is a parameter. */
  readonly path: string;
  /** Its file, from this folder. It exports a component as `page`. */
  readonly module: string;
  /** Its key in the names of the navigation, left out if the navigation does not list it. */
  readonly nav?: string;
}

/** The files that a door serves: its entry, its pages, and all their imports. Each name is a file, from this folder. */
export interface DoorFiles {
  /** Loads `main`, and says so if that fails. */
  readonly start: string;
  readonly main: string;
  readonly styles: readonly string[];
  readonly pages: readonly PageRoute[];
}

export const NOT_FOUND: PageRoute = { path: '*', module: './pages/not-found.tsx' };

export interface FoundPage {
  readonly route: PageRoute;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds the page of an address such as `/console/tasks/task_1`. */
export function findPage(pages: readonly PageRoute[], path: string): FoundPage {
  const segments = path
    .replace(/^\/console\/?/, '')
    .replace(/\/$/, '')
    .split('/');
  for (const route of pages) {
    const params = matchParams(route.path.split('/'), segments);
    if (params !== undefined) return { route, params };
  }
  return { route: NOT_FOUND, params: {} };
}

function matchParams(
  pattern: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) {
    const segment = segments[at] ?? '';
    if (part.startsWith(':') && segment !== '') params[part.slice(1)] = decodeSegment(segment);
    else if (part !== segment) return undefined;
  }
  return params;
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
