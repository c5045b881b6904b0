import type { ErrorStatus } from '../../problems/error-table.ts';
import type { RefusedStatus, RouteEntry } from './route.ts';

/** The refusals of every route with a token. */
export const WITH_TOKEN: readonly ErrorStatus[] = [401, 403, 429];
const WITH_BODY: readonly ErrorStatus[] = [400, 413, 415];
const RELAYED: readonly ErrorStatus[] = [404, 502, 504];
const ANY_ROUTE: readonly ErrorStatus[] = [500, 503];

/** The statuses with which the gateway itself refuses a request to a route. */
export function listRefusalStatuses({ token, doc }: RouteEntry): ReadonlySet<RefusedStatus> {
  return new Set<RefusedStatus>([
    ...(token === undefined ? [] : WITH_TOKEN),
    ...(doc.json === undefined ? [] : WITH_BODY),
    ...(doc.isRelayed === true ? RELAYED : []),
    ...ANY_ROUTE,
    ...(doc.refuses ?? []),
  ]);
}
