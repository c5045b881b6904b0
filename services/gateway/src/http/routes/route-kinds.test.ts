import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import { dialects } from '../../dialects/index.ts';
import { gatewayRoutes } from '../../gateway-routes.ts';
import type { RouteEntry } from './route.ts';
import type { RouteKind } from '../http-exchange.ts';

/** The kinds that the objectives of the service level read. */
const WATCHED: readonly RouteKind[] = ['create', 'read', 'stream'];
const SAMPLE = /^reelgate_gateway_requests_total\{route="(.*)",kind="(\w+)",method="(\w+)",status="(\d+)"\} (\d+)$/;

interface Series {
  readonly route: string;
  readonly kind: string;
  readonly method: string;
  readonly status: string;
  readonly value: string;
}

let under: GatewayUnderTest;
let series: readonly Series[];
beforeAll(async () => {
  under = await startGatewayUnderTest({ batches: true });
  series = (await call(under.url, 'GET', '/metrics', { token: null })).text.split('\n').flatMap((line) => {
    const [whole, route = '', kind = '', method = '', status = '', value = ''] = SAMPLE.exec(line) ?? [];
    return whole === undefined ? [] : [{ route, kind, method, status, value }];
  });
});
afterAll(() => under.stop());

const routes = gatewayRoutes(dialects, {} as never, 'https://gateway.example', { hasBatches: true });
const watched = routes.filter(({ kind }) => WATCHED.includes(kind));

test('every route that an objective counts has its successes and failures at 0 from the start, under its kind', () => {
  const missing = watched.flatMap(({ path, kind, methods, doc }) =>
    (methods === 'all' ? ['every method'] : methods).flatMap((method) => {
      const own = series.filter(({ route, method: one }) => route === path && one === method);
      const successes = [doc.status ?? 200, ...Object.keys(doc.also ?? {})].map(String);
      return [...successes, '500', '503']
        .filter((status) => !own.some((one) => one.status === status && one.kind === kind && one.value === '0'))
        .map((status) => `${method} ${path} ${status}`);
    }),
  );

  expect(missing).toEqual([]);
  expect(watched.length).toBeGreaterThan(10);
});

test('a route has one kind in all of its series', () => {
  const kinds = new Map(routes.map(({ path, methods, kind }) => [`${String(methods)} ${path}`, kind]));
  const others = series.filter(
    ({ route, method, kind }) => kinds.has(`${method} ${route}`) && kinds.get(`${method} ${route}`) !== kind,
  );

  expect(others).toEqual([]);
});

test('each route that counts against the creates of a token makes a task, and so does a call for later', () => {
  const creates = routes.filter(({ kind }) => kind === 'create').map(({ path }) => path);
  const counted = routes.filter(({ token }) => token?.counts === 'creates').map(({ path }) => path);

  expect(creates.toSorted()).toEqual(['/async/{+path}', ...counted].toSorted());
});

test('a route without a kind does not compile', () => {
  const handle = (): void => undefined;
  const doc = { tag: '', operationId: 'none', summary: '', answers: {} };
  // @ts-expect-error -- the kind is missing
  const entry: RouteEntry = { methods: ['GET'], path: '/', doc, handle };

  expect(entry).not.toHaveProperty('kind');
});
