import { METHODS } from 'node:http';
import { expect, test } from '@jest/globals';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { requestCounter } from './request-counter.ts';

test('a client cannot make a time series with a method that no route has', async () => {
  const metrics = newMetrics(false);
  const count = requestCounter(metrics);

  for (const method of METHODS) count({ route: 'none', method, status: 404 });

  const methods = [...(await metrics.text()).matchAll(/^reelgate_gateway_requests_total{.*method="(\w+)"/gm)];
  expect(methods.map(([, method]) => method).toSorted()).toEqual(
    ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'other'].toSorted(),
  );
});

test('a request is counted with the kind of its route, and one that no route has with none', async () => {
  const metrics = newMetrics(false);
  const count = requestCounter(metrics);

  count({ route: '/v1/videos', kind: 'create', method: 'POST', status: 200 });
  count({ route: 'none', method: 'GET', status: 404 });

  const kinds = [...(await metrics.text()).matchAll(/^reelgate_gateway_requests_total{.*kind="(\w+)"/gm)];
  expect(kinds.map(([, kind]) => kind)).toEqual(['create', 'none']);
});

test('answers with 429 are counted by the reason of the gateway, or as those of an upstream', async () => {
  const metrics = newMetrics(false);
  const count = requestCounter(metrics);
  const post = { route: '/v1/videos', kind: 'create', method: 'POST' } as const;

  count({ ...post, status: 429, reason: 'too_many_tasks' });
  count({ ...post, status: 429 });
  count({ ...post, status: 404, reason: 'task_not_found' });

  const lines = (await metrics.text())
    .split('\n')
    .filter((line) => line.startsWith('reelgate_gateway_throttled_total'));
  expect(lines).toEqual([
    'reelgate_gateway_throttled_total{reason="too_many_tasks"} 1',
    'reelgate_gateway_throttled_total{reason="upstream"} 1',
  ]);
});
