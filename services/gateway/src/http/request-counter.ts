import type { Metrics } from '@reelgate/platform/metrics/metrics';

/** Counts the ended requests of both kinds: exchanges, and upgrades to a realtime session. */
export type CountRequest = (request: {
  readonly route: string;
  readonly method: string;
  readonly status: number;
}) => void;

export function requestCounter(metrics: Metrics): CountRequest {
  const requests = metrics.counter('reelgate_gateway_requests_total', 'Requests by route, method and status', [
    'route',
    'method',
    'status',
  ]);
  return ({ route, method, status }) => {
    requests.labels(route, method, String(status)).inc();
  };
}
