import { expect, test } from '@jest/globals';
import type { RouteEntry } from './route.ts';
import { routeTable } from './route-table.ts';

const PATHS = [
  '/',
  '/v1/videos',
  '/v1/videos/{task_id}',
  '/v1/videos/{task_id}/content',
  '/v1/models/{model}',
  '/v1/models/{model}:generateContent',
  '/v1/{area}/special',
  '/links/{+link}',
  '/{name}',
];
const routes = PATHS.map((path): RouteEntry => ({
  kind: 'read',
  methods: ['GET'],
  path,
  doc: { tag: '', operationId: path, summary: '', answers: {} },
  handle: () => undefined,
}));
const table = routeTable(routes);

test.each([
  ['/', '/', {}],
  ['/v1/videos', '/v1/videos', {}],
  ['/v1/videos/', '/v1/videos', {}],
  ['/v1/videos/a%20b', '/v1/videos/{task_id}', { task_id: 'a b' }],
  ['/v1/videos/%E0', '/v1/videos/{task_id}', { task_id: '%E0' }],
  ['/v1/videos/a/content', '/v1/videos/{task_id}/content', { task_id: 'a' }],
  ['/v1/models/m:generateContent', '/v1/models/{model}:generateContent', { model: 'm' }],
  ['/v1/videos/special', '/v1/videos/{task_id}', { task_id: 'special' }],
  ['/v1/models2/special', '/v1/{area}/special', { area: 'models2' }],
  ['/links/a/b/c', '/links/{+link}', { link: 'a/b/c' }],
  ['/anything', '/{name}', { name: 'anything' }],
  ['/V1/videos', undefined, undefined],
  ['/v1/videos/a/b', undefined, undefined],
  ['//v1/videos', undefined, undefined],
  ['', undefined, undefined],
])('%s is handled by the first route whose pattern fits it: %s', (path, route, params) => {
  const found = table.find('GET', path);

  expect([found?.entry.path, found?.params]).toEqual([route, params]);
  expect(table.methodsAt(path)).toEqual(route === undefined ? [] : ['GET', 'HEAD']);
  expect(table.find('POST', path)).toBeUndefined();
});
