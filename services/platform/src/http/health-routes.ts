import { CONTENT_TYPES, formatFor } from '../metrics/metrics.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { ReadyCheck } from '../lifecycle/readiness.ts';
import type { HttpRoute } from './http-port.ts';

/** `/healthz` and `/readyz`, and `/metrics` if metrics are given. */
export function healthRoutes(ready: ReadyCheck, metrics?: Metrics): HttpRoute {
  return (request, response) => {
    const send = (status: number, body: string, type = 'text/plain; charset=utf-8'): void => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body);
    };
    if (request.url === '/healthz') send(200, 'ok\n');
    else if (request.url === '/readyz')
      void ready().then(
        (yes) => send(yes ? 200 : 503, yes ? 'ready\n' : 'not ready\n'),
        () => send(503, 'not ready\n'),
      );
    else if (request.url === '/metrics' && metrics !== undefined) {
      const format = formatFor(request.headers.accept);
      void metrics.text(format).then(
        (text) => send(200, text, CONTENT_TYPES[format]),
        () => send(500, 'the numbers could not be read\n'),
      );
    } else return false;
    return true;
  };
}
