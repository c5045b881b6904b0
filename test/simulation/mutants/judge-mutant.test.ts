import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { systemClock } from '@reelgate/platform/clock';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { listProductMutants } from './draw-mutants.ts';
import { judgeBySeeds, judgeByTests } from './judge-mutant.ts';
import type { Judge } from './judge-mutant.ts';
import { openReport, showSummary } from './judgements.ts';
import { newMutant } from './mutant.ts';
import type { Mutant, Operator } from './mutant.ts';
import { openCopies } from './repository-copy.ts';
import { listUnitTests } from './unit-tests.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const RATES = 'services/tasks/src/operations/lanes/lane-rates.ts';
const HOLD_ENDS = 'services/billing/src/store/holds/sql-end-holds.ts';
const FIRST_SEED = 1;
const NO_COVERAGE = { firstSeed: FIRST_SEED, seeds: [], coverage: {} };

const copies = openCopies();
let judge: Judge;
beforeAll(() => {
  judge = { copy: copies.add('test'), clock: systemClock, kill: new AbortController().signal };
});
afterAll(copies.close);

/** Finds the first mutant of an operator whose line has a text. */
function findMutant(file: string, operator: Operator, text: string): Mutant {
  const lines = readFileSync(path.join(ROOT, file), 'utf8').split('\n');
  const lineOf = ({ name }: Mutant): string => lines[Number(name.split(':')[1]) - 1] ?? '';
  const found = listProductMutants(file).find(
    (mutant) => mutant.operator === operator && lineOf(mutant).includes(text),
  );
  if (found === undefined) throw new Error(`no ${operator} of ${file} is in a line with ${text}`);
  return found;
}

test('a unit test of its folder kills a mutant, and the file of the copy is as it was', async () => {
  const source = readFileSync(path.join(ROOT, RATES), 'utf8');

  const judgement = await judgeByTests(judge, findMutant(RATES, 'turn-condition', 'numbers[at] === number'));

  expect(judgement?.verdict).toBe('unit tests');
  expect(judgement?.by).toMatch(/^services\/tasks\/src\/operations\/lanes\/lane-rates\.test\.ts: /);
  expect(readFileSync(path.join(judge.copy.folder, RATES), 'utf8')).toBe(source);
  expect(readFileSync(path.join(ROOT, RATES), 'utf8')).toBe(source);
});

test('a mutant that is equivalent survives its unit tests, and all seeds if none runs its place', async () => {
  const source = readFileSync(path.join(ROOT, RATES), 'utf8');
  const equivalent = newMutant(RATES, source, { operator: 'drop-statement', start: 0, end: 0, becomes: ';' });

  expect((await judgeByTests(judge, equivalent))?.verdict).toBe('waits');
  const judgement = await judgeBySeeds(judge, equivalent, NO_COVERAGE);

  expect(judgement).toMatchObject({ verdict: 'survived', by: 'no seed runs this place' });
});

test('a kept seed kills a mutant that pays for a task instead of charging it', async () => {
  const mutant = findMutant(HOLD_ENDS, 'swap-sign', 'balance: -charged(group)');

  const judgement = await judgeBySeeds(judge, mutant, { ...NO_COVERAGE, coverage: { [HOLD_ENDS]: [] } });

  expect(judgement?.verdict).toBe('kept seeds');
  expect(judgement?.by).toMatch(/^seed \d+: /);
});

test.each<[string, string, readonly (readonly string[])[]]>([
  [
    'those named as the file first, then those beside it',
    'services/tasks/src/operations/lanes/lane-rates.ts',
    [['services/tasks/src/operations/lanes/lane-rates.test.ts']],
  ],
  [
    'those of the folder above if none is beside it',
    'services/billing/src/store/calls/call-rows.ts',
    [['services/billing/src/store/embedded-tables.test.ts', 'services/billing/src/store/query-plans.test.ts']],
  ],
  [
    'no long ones',
    'services/billing/src/operations/tokens/token-keys.ts',
    [
      ['signing-keys', 'token-hints', 'token-trees'].map(
        (name) => `services/billing/src/operations/tokens/${name}.test.ts`,
      ),
    ],
  ],
])('the unit tests of a file are %s', (_which, file, groups) => {
  expect(listUnitTests(ROOT, file)).toEqual(groups);
});

test('a report is continued, its last line of a mutant counts, and its summary lists the survivors', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-judgements-'));
  const add = (name: string, verdict: 'waits' | 'survived' | 'unit tests'): void => {
    const edit = { operator: 'shift-bound', before: '<', becomes: '<=' };
    openReport(folder, 1).add({ name, ...edit, source: 'abc', verdict, by: 'a reason', ms: 1000 });
  };
  try {
    add('services/tasks/src/store/a.ts:1:1:shift-bound', 'waits');
    add('services/tasks/src/store/b.ts:1:1:shift-bound', 'unit tests');
    add('services/tasks/src/store/a.ts:1:1:shift-bound', 'survived');

    const summary = showSummary(openReport(folder, 1).list());

    expect(summary).toContain('| services/tasks/src/store | 2 | 1 | 0 | 0 | 0 | 1 | 0 |');
    expect(summary).toContain('| shift-bound | 2 | 1 | 0 | 0 | 0 | 1 | 0 |');
    expect(summary).toContain('1 survivors\nservices/tasks/src/store/a.ts:1:1:shift-bound: survived (a reason), 1 s');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('what is known of the product without a mutant counts for the same product only', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-judgements-'));
  let finds = 0;
  const recall = (state: string): Promise<number> =>
    openReport(folder, 1).recall(state, 'a folder', async () => (finds += 1));
  try {
    expect(await recall('one')).toBe(1);
    expect(await recall('one')).toBe(1);
    expect(await recall('other')).toBe(2);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the copies are removed', () => {
  const other = openCopies();

  other.close();

  expect(existsSync(other.folder)).toBe(false);
});
