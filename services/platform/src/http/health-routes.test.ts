import { createServer } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';
import { healthRoutes } from './health-routes.ts';
import type { ReadyCheck } from '../lifecycle/readiness.ts';
import { newMetrics } from '../metrics/metrics.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { stopHttp } from './http-port.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** Serves the routes, and answers 418 to every other request. */
async function served(
  ready: ReadyCheck,
  metrics?: Metrics,
): Promise<(path: string, headers?: Record<string, string>) => Promise<Response>> {
  const route = healthRoutes(ready, metrics);
  const server = createServer((request, response) => {
    if (!route(request, response)) response.writeHead(418).end();
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  ends.push(() => stopHttp(server));
  const { port } = server.address() as { readonly port: number };
  return (path, headers = {}) => fetch(`http://127.0.0.1:${port}${path}`, { headers });
}

const yes: ReadyCheck = async () => true;

describe('health', () => {
  test.each<[string, ReadyCheck, number, string]>([
    ['ready', yes, 200, 'ready\n'],
    ['a service that is not ready', async () => false, 503, 'not ready\n'],
    [
      'a check that fails',
      async () => {
        throw new Error('password=hunter2');
      },
      503,
      'not ready\n',
    ],
  ])('with %s shows in /readyz and not in /healthz', async (_how, ready, status, body) => {
    const get = await served(ready);

    const response = await get('/readyz');

    expect([response.status, await response.text()]).toEqual([status, body]);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect([(await get('/healthz')).status, await (await get('/healthz')).text()]).toEqual([200, 'ok\n']);
  });

  test('is checked again for each request', async () => {
    let ready = false;
    const get = await served(async () => ready);

    expect((await get('/readyz')).status).toBe(503);
    ready = true;
    expect((await get('/readyz')).status).toBe(200);
  });

  test('answers no other request', async () => {
    const get = await served(yes);

    for (const path of ['/', '/healthz/', '/ready', '/metrics']) expect((await get(path)).status).toBe(418);
  });
});

describe('/metrics', () => {
  test('returns the metrics with their content type', async () => {
    const metrics = newMetrics(false);
    metrics.counter('calls_total', 'Calls.').labels().inc();
    const response = await (await served(yes, metrics))('/metrics');

    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await response.text()).toContain('calls_total 1');
  });

  test.each<[string, string, boolean]>([
    [
      'of Prometheus',
      'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,' +
        'text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
      true,
    ],
    ['of OpenMetrics alone', 'Application/OpenMetrics-Text', true],
    ['that prefers the older text', 'application/openmetrics-text;q=0.2, text/plain;q=0.9', false],
    ['that excludes OpenMetrics', 'application/openmetrics-text;q=0, */*', false],
    ['of a browser', 'text/html,application/xhtml+xml,*/*;q=0.8', false],
    ['that is broken', ';;q=,=,application/openmetrics-text;q=high', false],
  ])('follows an Accept header %s', async (_which, accept, isOpen) => {
    const metrics = newMetrics(false);
    metrics.counter('calls_total', 'Calls.').labels().inc();
    metrics.histogram('took_seconds', 'How long it took.', [1]).labels().observe(0.5, 'abc');
    const response = await (await served(yes, metrics))('/metrics', { accept });
    const text = await response.text();

    expect(response.headers.get('content-type')).toMatch(
      isOpen ? /^application\/openmetrics-text; / : /^text\/plain; /,
    );
    expect(text.endsWith('# EOF\n')).toBe(isOpen);
    expect(text.includes('trace_id="abc"')).toBe(isOpen);
  });

  test('that cannot be collected fails that request alone', async () => {
    const metrics = newMetrics(false);
    metrics.gauge('waiting', 'How many wait.', [], async () => {
      throw new Error('password=hunter2');
    });
    const get = await served(yes, metrics);

    const response = await get('/metrics');

    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('hunter2');
    expect((await get('/readyz')).status).toBe(200);
  });
});
