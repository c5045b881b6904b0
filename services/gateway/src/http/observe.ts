import type { Clock } from '@reelgate/platform/clock';
import { hasOwnForm } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import type { Exchange } from './http-exchange.ts';
import { NO_KIND, requestCounter } from './request-counter.ts';
import { endRequestSpan } from './request-span.ts';

const BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** The status in logs and metrics if the client left before the answer. */
const CLIENT_GONE = 499;
/** From this status on a request was refused, or failed. */
const REFUSED = 400;

/**
 * Writes one log line and the metrics of an exchange when it ends. It never logs a query, because a link has its
 * signature there.
 */
export function observer({
  clock,
  log,
  metrics,
}: {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}): (exchange: Exchange) => void {
  const countRequest = requestCounter(metrics);
  const seconds = metrics.histogram(
    'reelgate_gateway_request_seconds',
    'Time from the head of a request to the end of its answer',
    BUCKETS,
    ['route', 'kind'],
  );
  let inFlight = 0;
  metrics.gauge('reelgate_gateway_in_flight', 'Requests that are being answered', [], (gauge) =>
    gauge.labels().set(inFlight),
  );
  return (exchange) => {
    const startedAt = clock.now();
    inFlight += 1;
    exchange.state.end.whenOver(() => {
      inFlight -= 1;
      const { requestId, route = 'none', kind, reason, principal, operator, model, tool, span } = exchange.state;
      const taskId = ownId(exchange.state.taskId);
      const status = exchange.res.writableFinished ? exchange.res.statusCode : CLIENT_GONE;
      const ms = clock.now() - startedAt;
      countRequest({ route, kind, method: exchange.method, status, reason });
      seconds.labels(route, kind ?? NO_KIND).observe(ms / 1000, span.traceId);
      log.access(
        { level: 'info', failed: status >= REFUSED },
        {
          requestId,
          method: exchange.method,
          route,
          status,
          ms,
          accountId: principal?.accountId,
          tokenId: principal?.tokenId,
          operator: operator?.name,
          taskId,
          model,
          tool,
          trace_id: span.traceId,
        },
        'request',
      );
      endRequestSpan(span, {
        method: exchange.method,
        route,
        status,
        requestId,
        accountId: principal?.accountId,
        taskId,
        model,
        tool,
      });
    });
  };
}

/** Returns the id if it has the form of ours. Without one, the log line and the span name no id. */
function ownId(id: string | undefined): string | undefined {
  return id !== undefined && hasOwnForm(id) ? id : undefined;
}
