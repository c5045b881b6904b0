import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** A metric under its name, in a file of the product. */
const METRIC = /'(reelgate_[a-z_]+)'/g;
const REGISTERED = /\.(?:counter|gauge|histogram)\(\s*'([^']*)'/g;
const ROW = /^\| `(\w+)` \| (?:counter|gauge|histogram) \|/gm;

const sources = execFileSync('git', ['ls-files', 'services/*.ts', 'deploy/*.ts'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .filter((name) => name.includes('/src/') || name.startsWith('deploy/program/'))
  .filter((name) => !/\.test\.ts$|\/testing\//.test(name))
  .map((name) => readFileSync(path.join(ROOT, name), 'utf8'));
const found = (texts: readonly string[], pattern: RegExp): string[] =>
  texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name));

test('the page about metrics has a row for every metric, and each has one home in the code', () => {
  const page = readFileSync(path.join(ROOT, 'deploy/metrics.md'), 'utf8');

  expect(found([page], ROW).toSorted()).toEqual(found(sources, METRIC).toSorted());
});

test('the name of every metric begins with reelgate_', () => {
  const registered = found(sources, REGISTERED);

  expect(registered.length).toBeGreaterThan(15);
  expect(registered.filter((name) => !name.startsWith('reelgate_'))).toEqual([]);
});
