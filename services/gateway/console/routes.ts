/** The client console on the public port, or the operator console on the admin port. */
export type Door = 'client' | 'operator';

/** A page: the pattern of its address below `/console`, and the module that draws it. */
export interface PageRoute {
  /** A segment such as `:taskId` is a parameter. */
  readonly path: string;
  /** Its file below this folder. It exports a component as `page`. */
  readonly module: string;
  /** The key of its name in the navigation; absent: the navigation does not list it. */
  readonly nav?: string;
}

/** Every page. A new one is one file and one line here. */
export const PAGES: Readonly<Record<Door, readonly PageRoute[]>> = {
  client: [
    { path: '', module: 'pages/client/home.ts', nav: 'home' },
    { path: 'tasks', module: 'pages/client/tasks.ts', nav: 'tasks' },
    { path: 'tasks/:taskId', module: 'pages/client/task.ts' },
    { path: 'try', module: 'pages/client/try.ts', nav: 'try' },
    { path: 'usage', module: 'pages/client/usage.ts', nav: 'usage' },
    { path: 'webhooks', module: 'pages/client/webhooks.ts', nav: 'webhooks' },
    { path: 'webhooks/:endpointId', module: 'pages/client/webhook-endpoint.ts' },
    { path: 'webhooks/:endpointId/:deliveryId', module: 'pages/client/webhook-delivery.ts' },
    { path: 'tokens', module: 'pages/client/tokens.ts', nav: 'tokens' },
  ],
  operator: [
    { path: '', module: 'pages/operator/now.ts', nav: 'now' },
    { path: 'attention', module: 'pages/operator/attention.ts', nav: 'attention' },
    { path: 'tasks', module: 'pages/operator/tasks.ts', nav: 'tasks' },
    { path: 'tasks/:taskId', module: 'pages/operator/task.ts' },
    { path: 'channels', module: 'pages/operator/channels.ts', nav: 'channels' },
    { path: 'money', module: 'pages/operator/money.ts', nav: 'money' },
    { path: 'accounts', module: 'pages/operator/accounts.ts', nav: 'accounts' },
    { path: 'accounts/:accountId', module: 'pages/operator/account.ts' },
    { path: 'jobs', module: 'pages/operator/jobs.ts', nav: 'jobs' },
    { path: 'jobs/:jobId', module: 'pages/operator/job.ts' },
    { path: 'configuration', module: 'pages/operator/configuration.ts', nav: 'configuration' },
  ],
};

const NOT_FOUND: PageRoute = { path: '*', module: 'pages/not-found.ts' };

export interface FoundPage {
  readonly route: PageRoute;
  readonly params: Readonly<Record<string, string>>;
}

/** The page of an address such as `/console/tasks/task_1`. */
export function findPage(door: Door, path: string): FoundPage {
  const segments = path
    .replace(/^\/console\/?/, '')
    .replace(/\/$/, '')
    .split('/');
  for (const route of PAGES[door]) {
    const params = paramsOf(route.path.split('/'), segments);
    if (params !== undefined) return { route, params };
  }
  return { route: NOT_FOUND, params: {} };
}

/** The module that an address needs, for the server to announce it early. */
export function pageModuleOf(door: Door, path: string): string {
  return findPage(door, path).route.module;
}

function paramsOf(
  pattern: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [at, part] of pattern.entries()) {
    const segment = segments[at] ?? '';
    if (part.startsWith(':') && segment !== '') params[part.slice(1)] = decoded(segment);
    else if (part !== segment) return undefined;
  }
  return params;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
