import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** The namespaces of OpenTelemetry that spans use. `reelgate.` is our own. */
const ATTRIBUTE = /'((?:db|error|gen_ai|http|messaging|rpc|service)\.[a-z_.]+)':/g;

const names: ReadonlySet<unknown> = new Set(
  Object.entries(conventions).flatMap(([constant, name]) => (constant.startsWith('ATTR_') ? [name] : [])),
);
const sources = execFileSync('git', ['ls-files', 'services/*/src/*.ts', 'deploy/program/*.ts'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && !file.endsWith('.test.ts'))
  .map((file) => readFileSync(path.join(ROOT, file), 'utf8'));

test('every attribute of a span has the name that the conventions of OpenTelemetry give it', () => {
  const used = [...new Set(sources.flatMap((text) => [...text.matchAll(ATTRIBUTE)].map(([, name = '']) => name)))];

  expect(used.length).toBeGreaterThan(15);
  expect(used.filter((name) => !names.has(name))).toEqual([]);
});
