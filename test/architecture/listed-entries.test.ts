import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { REALTIME_ENDPOINT, relayEndpoints } from '../../services/gateway/src/relay/endpoints.ts';
import { ADAPTERS } from '../../services/tasks/src/channels/adapters/index.ts';
import type { Row } from '../contract/engine/row.ts';
import { asyncRows } from '../contract/rows/async.ts';
import { relayRows } from '../contract/rows/relay.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** The end of a path on a page that stands for several, such as `/v1/images/…`. */
const AND_SO_ON = '…';
const TABLE = /(?:^\|.*\n)+/gm;

const read = (page: string): string => readFileSync(path.join(ROOT, page), 'utf8');
const listCode = (text: string): string[] => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
const readLine = (page: string, begin: string): string =>
  read(page)
    .split('\n')
    .find((line) => line.startsWith(begin)) ?? '';

const paths = [...new Set(relayEndpoints.map((endpoint) => endpoint.path))];
const listPaths = (rows: readonly Row[]): string[] =>
  rows.flatMap(({ steps }) => steps.flatMap((step) => ('request' in step ? [step.request.path] : [])));
const calls = listPaths(relayRows);
const jobs = listPaths(asyncRows);

/** Reports whether a request has the path of an endpoint, whose parameters can be anything. */
function hasPath(request: string, endpoint: string): boolean {
  return new RegExp(`^${endpoint.replaceAll(/\{\w+\}/g, '[^/]+')}(\\?|$)`).test(request);
}

describe.each(paths)('the relayed route %s', (endpoint) => {
  test('has a row in test/contract/rows/relay.ts', () => {
    expect(calls.some((request) => hasPath(request, endpoint))).toBe(true);
  });

  test('has a row in test/contract/rows/async.ts', () => {
    expect(jobs.some((request) => hasPath(request, `/async${endpoint}`))).toBe(true);
  });

  test('is in the routes of README.md', () => {
    const [row = ''] = /^\|.*relayed synchronously.*$/m.exec(read('README.md')) ?? [];
    const isListed = listCode(row).some((code) =>
      code.endsWith(AND_SO_ON) ? endpoint.startsWith(code.slice(0, -AND_SO_ON.length)) : code === endpoint,
    );

    expect(isListed).toBe(true);
  });
});

test.each(relayEndpoints.map((endpoint) => [endpoint.path, endpoint.name]))(
  'services/gateway/src/relay/README.md has the route %s in the row of %s',
  (endpoint, name) => {
    expect(listCode(readLine('services/gateway/src/relay/README.md', `| \`${name}\` |`))).toContain(endpoint);
  },
);

test('services/gateway/src/relay/README.md has no row of an endpoint that does not exist', () => {
  const page = read('services/gateway/src/relay/README.md');
  const rows = [...page.matchAll(/^\| `([^`]+)` \| `\/v1/gm)].map(([, name = '']) => name);

  expect(rows.toSorted()).toEqual(
    [...new Set([...relayEndpoints.map(({ name }) => name), REALTIME_ENDPOINT])].toSorted(),
  );
});

test('each table of the page about adapters has a row of every adapter', () => {
  const tables = [...read('services/tasks/src/channels/adapters/README.md').matchAll(TABLE)].map(([table]) =>
    [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name = '']) => name),
  );
  const ofAdapters = tables.filter((names) => names.some((name) => Object.hasOwn(ADAPTERS, name)));

  expect(ofAdapters.length).toBeGreaterThan(0);
  for (const names of ofAdapters) expect(names.toSorted()).toEqual(Object.keys(ADAPTERS).toSorted());
});
