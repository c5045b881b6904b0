import type { Counter } from '@reelgate/platform/metrics/counter';
import type { CountFamily } from '@reelgate/platform/metrics/labelled';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { listRefusalStatuses } from './routes/route.ts';
import type { RouteEntry } from './routes/route.ts';
import type { RouteKind } from './http-exchange.ts';

const OK = 200;
const THROTTLED = 429;
const FAILED = 500;
/** Some routes never answer anything else. */
const NOT_IMPLEMENTED = 501;
/** The kind of a request that no route has. */
export const NO_KIND = 'none';
/** The methods of the routes. A client may send any other method to any path. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts the ended requests of both kinds: exchanges, and upgrades to a realtime session. */
export type CountRequest = (request: {
  readonly route: string;
  /** The kind of the route; absent if no route has the path. */
  readonly kind?: RouteKind | undefined;
  readonly method: string;
  readonly status: number;
  /** The reason of a refusal by the gateway. */
  readonly reason?: string | undefined;
}) => void;

export function requestCounter(metrics: Metrics): CountRequest {
  const requests = openRequestsCounter(metrics);
  const throttled = metrics.counter('reelgate_gateway_throttled_total', 'Answers with the status 429 by reason', [
    'reason',
  ]);
  return ({ route, kind, method, status, reason = 'upstream' }) => {
    requests.labels(route, kind ?? NO_KIND, METHODS.has(method) ? method : 'other', String(status)).inc();
    if (status === THROTTLED) throttled.labels(reason).inc();
  };
}

/** The successes and the failures of every route begin at 0, because alerts watch their rates. */
export function initRequestCounts(metrics: Metrics, routes: readonly RouteEntry[]): void {
  let sets: readonly (readonly string[])[] | undefined;
  openRequestsCounter(metrics).begin(() => (sets ??= routes.flatMap(listCounts)));
}

/** The label values of the successes and the failures of a route. */
function listCounts(entry: RouteEntry): readonly (readonly string[])[] {
  const successes = [entry.doc.status ?? OK, ...Object.keys(entry.doc.also ?? {})];
  const statuses = [...successes, ...listFailureStatuses(entry)].map(String);
  const methods = entry.methods === 'all' ? [] : entry.methods;
  return methods.flatMap((method) => statuses.map((status) => [entry.path, entry.kind, method, status]));
}

const listFailureStatuses = (entry: RouteEntry): readonly number[] =>
  [...listRefusalStatuses(entry)].filter((status) => status >= FAILED && status !== NOT_IMPLEMENTED);

const openRequestsCounter = (metrics: Metrics): CountFamily<Counter> =>
  metrics.counter('reelgate_gateway_requests_total', 'Requests by route, method and status', [
    'route',
    'kind',
    'method',
    'status',
  ]);
