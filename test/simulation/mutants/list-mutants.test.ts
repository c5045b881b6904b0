/* eslint-disable no-template-curly-in-string -- the texts are sources that have templates */
import { stripTypeScriptTypes } from 'node:module';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { drawMutants, FOLDERS, listProductMutants } from './draw-mutants.ts';
import { listMutants } from './list-mutants.ts';
import { applyEdit, OPERATORS } from './mutant.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const FILE = 'services/some/file.ts';
const PARSED = 300;
const SEED = 1;
const PRODUCT = listProductMutants();

/** Writes the mutants of a source as a person reads them. */
function describeMutants(source: string): readonly string[] {
  return listMutants(FILE, source).map(({ operator, before, becomes }) => `${operator}: ${before} => ${becomes}`);
}

test.each<[string, string, readonly string[]]>([
  [
    'an `if`',
    'if (isOpen(hold)) end();',
    ['turn-condition: isOpen(hold) => !(isOpen(hold))', 'drop-statement: end(); => ;'],
  ],
  ['a choice', 'export const a = b ? c : d;', ['turn-condition: b => !(b)']],
  [
    'a comparison of an `if`, once',
    'if (a === b) c = d;',
    ['turn-condition: a === b => !(a === b)', 'drop-statement: c = d; => ;'],
  ],
  ['another comparison', 'const a = b !== c;', ['turn-equality: !== => ===']],
  ['both ways to join conditions', 'const a = b && (c || d);', ['swap-logic: && => ||', 'swap-logic: || => &&']],
  [
    'all bounds',
    'const a = [b < c, b <= c, b > c, b >= c];',
    ['shift-bound: < => <=', 'shift-bound: <= => <', 'shift-bound: > => >=', 'shift-bound: >= => >'],
  ],
  ['a bound and its number', 'const a = b.length > 0;', ['shift-bound: > => >=', 'shift-number: 0 => 1']],
  ['a constant', 'const TRIES_MAX = 3;', ['shift-number: 3 => 4']],
  ['an amount of money', 'const least = total + 1n;', ['swap-sign: + => -', 'shift-number: 1n => 2n']],
  [
    'a difference, and what it is added to',
    'sum += -held;',
    ['drop-statement: sum += -held; => ;', 'swap-sign: += => -=', 'swap-sign: -held => (held)'],
  ],
  ['an element', 'const a = rows[0];', ['shift-number: 0 => 1']],
  ['an awaited statement', 'await write(a);', ['drop-statement: await write(a); => ;', 'lose-await: await => void']],
  [
    'a returned promise in a `try`',
    'async function f() { try { return await g(); } finally { h = i; } }',
    ['lose-await: await => ', 'drop-statement: h = i; => ;'],
  ],
  [
    'neighbouring arguments of a kind',
    'const x = move(from, to, 1);',
    ['swap-arguments: from, to => to, from', 'shift-number: 1 => 2'],
  ],
  [
    'an early return',
    'function f() { if (a) return b; return c; }',
    ['turn-condition: a => !(a)', 'drop-return: return b; => ;'],
  ],
  ['a throw', 'if (a) throw b;', ['turn-condition: a => !(a)', 'drop-throw: throw b; => ;']],
])('%s is mutated', (_what, source, mutants) => {
  expect(describeMutants(source)).toEqual(mutants);
});

test.each<[string, string]>([
  ['a type', 'type A = B extends 1 ? C : D; interface E { readonly f: 2 }'],
  ['an import', "import { a } from './b.ts';"],
  ['a log line', "deps.log.info({ taskId, count: a + 1 }, 'a task ended');"],
  ['a condition of a log line', "if (isNew) { log.warn('new'); }"],
  ['a metric and a span', 'deps.count.finished(task, finish); await writeTaskSpan(deps, task, end);'],
  ['a time and a size', 'const RETRY_MS = 500; const TEXT_BYTES_MAX = 64;'],
  ['a large number', 'const ROWS_MAX = 5000;'],
  ['a sum of texts', "const a = b + ' of ' + c;"],
  ['arguments whose types differ', 'const a = run(deps, task); const b = find(c, { d });'],
  ['arguments in any order', 'const a = Math.max(b, c);'],
  ['the last return', 'function f() { return a; }'],
  ['a text that is no SQL', "const a = 'the amount is < 0 or > 9';"],
])('%s is not mutated', (_what, source) => {
  expect(describeMutants(source)).toEqual([]);
});

test.each<[string, string, readonly string[]]>([
  [
    'a condition',
    "'SELECT id FROM a WHERE b = $1 AND c IS NULL'",
    ['drop-sql-condition: c IS NULL => (c IS NULL OR TRUE)'],
  ],
  [
    'a condition before a clause',
    '`UPDATE a SET b = 1 WHERE c AND d = $1 RETURNING id`',
    ['drop-sql-condition: d = $1 => (d = $1 OR TRUE)'],
  ],
  [
    'a condition in brackets',
    '`SELECT (SELECT 1 FROM a WHERE b AND (c OR d)) AS e`',
    ['drop-sql-condition: (c OR d) => ((c OR d) OR TRUE)'],
  ],
  [
    'a condition with a value',
    "`DELETE FROM a WHERE b AND c = ${of('c')} ORDER BY d`",
    ["drop-sql-condition: c = ${of('c')} => (c = ${of('c')} OR TRUE)"],
  ],
  [
    'a condition before a clause in a value',
    '`SELECT a WHERE b AND c = 1 ${tail}`',
    ['drop-sql-condition: c = 1 => (c = 1 OR TRUE)'],
  ],
  [
    'a condition in a constant',
    '`SELECT a WHERE b AND ${UNFINISHED}`',
    ['drop-sql-condition: ${UNFINISHED} => (${UNFINISHED} OR TRUE)'],
  ],
  ['no clause that may be empty', '`SELECT a WHERE b AND ${rest}`', []],
  ['no second value of a range', "'SELECT a WHERE b BETWEEN $1 AND $2'", []],
  ['a bound', "'SELECT a FROM b WHERE due_at <= $1'", ['shift-sql-bound: <= => <']],
  ['a sum of columns', "'UPDATE a SET held = held + $1'", ['swap-sql-sign: + => -']],
  ['nothing in quotes', "`SELECT a WHERE b = ' < ' OR c = ' - '`", []],
])('of SQL, %s is mutated', (_what, text, mutants) => {
  expect(describeMutants(`const STATEMENT = ${text};`)).toEqual(mutants);
});

test('a mutant is named by its place and operator, and changes only that place', () => {
  const source = 'const a = 5;\nif (b) c();\n';

  const [, dropped] = listMutants(FILE, source).filter(({ operator }) => operator !== 'shift-number');

  expect(dropped?.name).toBe('services/some/file.ts:2:8:drop-statement');
  expect(dropped && applyEdit(source, dropped)).toBe('const a = 5;\nif (b) ;\n');
});

test('each drawn mutant of the product parses, has a name of its own, and differs from the product', () => {
  const drawn = drawMutants(PRODUCT, SEED, PARSED);

  const sources = new Map(drawn.map(({ file }) => [file, readFileSync(path.join(ROOT, file), 'utf8')]));
  for (const mutant of drawn) {
    const source = sources.get(mutant.file) ?? '';
    const mutated = applyEdit(source, mutant);
    expect(mutated).not.toBe(source);
    expect(() => stripTypeScriptTypes(mutated)).not.toThrow();
  }
  expect(new Set(drawn.map(({ name }) => name)).size).toBe(PARSED);
});

test('a draw covers every operator, service and folder, and a shorter one is its beginning', () => {
  const drawn = drawMutants(PRODUCT, SEED, PARSED);

  const operators = Map.groupBy(drawn, ({ operator }) => operator);
  expect([...operators.keys()].sort()).toEqual([...OPERATORS].sort());
  const counts = [...operators.values()].map(({ length }) => length);
  expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
  const services = Map.groupBy(drawn, ({ file }) => file.split('/')[1]);
  expect(Math.min(...[...services.values()].map(({ length }) => length))).toBeGreaterThan(PARSED / 4);
  expect(FOLDERS.filter((folder) => !drawn.some(({ file }) => file.startsWith(folder)))).toEqual([]);
  expect(drawMutants(PRODUCT, SEED, 20)).toEqual(drawn.slice(0, 20));
  expect(drawMutants(PRODUCT, SEED + 1, 20)).not.toEqual(drawn.slice(0, 20));
});
