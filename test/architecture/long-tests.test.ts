import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { LONG_TESTS, SHORT_IN_LONG_FOLDERS, findReason, isLongTest } from '../run/long-tests.ts';

const ROOT = path.join(import.meta.dirname, '../..');

test('every entry of the long tests exists, so that none hides a test that has moved', () => {
  const paths = [...LONG_TESTS.map((long) => long.path), ...SHORT_IN_LONG_FOLDERS];

  expect(paths.filter((name) => !existsSync(path.join(ROOT, name)))).toEqual([]);
});

test('the long tests are sorted, each once, so that the entry that names a file best stands last', () => {
  const paths = LONG_TESTS.map((long) => long.path);

  expect(paths).toEqual([...new Set(paths)].toSorted());
});

test.each([
  ['test/browser/every-page.test.ts', true, 'a browser opens every page in five variants'],
  ['test/browser/lights.test.ts', true, 'a browser'],
  ['test/e2e/start.test.ts', false, 'whole programs in processes of their own'],
  ['services/tasks/src/domain/poll-interval.test.ts', false, undefined],
])('%s is a long test: %s', (file, isLong, reason) => {
  expect([isLongTest(file), findReason(file)]).toEqual([isLong, reason]);
});
