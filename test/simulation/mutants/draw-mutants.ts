import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { seeded } from '../../harness/seeded.ts';
import { listMutants } from './list-mutants.ts';
import type { Mutant } from './mutant.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** What is mutated: the operations and stores of tasks and billing, and the creates and charges of the gateway. */
export const FOLDERS: readonly string[] = [
  'services/billing/src/operations',
  'services/billing/src/store',
  'services/gateway/src/http/admission',
  'services/gateway/src/operations',
  'services/gateway/src/relay/charges',
  'services/tasks/src/operations',
  'services/tasks/src/store',
];
/** Tests, and files that only write traces. */
const NOT_MUTATED = /\.test\.ts$|\/tracing\//;

/** Lists the files that are mutated. */
export function listMutatedFiles(): readonly string[] {
  return globSync(`{${FOLDERS.join(',')}}/**/*.ts`, { cwd: ROOT })
    .filter((file) => !NOT_MUTATED.test(file))
    .sort();
}

/** Lists every mutant of the files, or of those whose path begins with `only`. */
export function listProductMutants(only = ''): readonly Mutant[] {
  return listMutatedFiles()
    .filter((file) => file.startsWith(only))
    .flatMap((file) => listMutants(file, readFileSync(path.join(ROOT, file), 'utf8')));
}

/**
 * Draws mutants by a seed. Each is one of the operator and then of the file that were drawn least, so that a few mutants
 * already cover many of both. The first of more are those of fewer.
 */
export function drawMutants(mutants: readonly Mutant[], seed: number, count: number): readonly Mutant[] {
  const left = shuffle(mutants, seed);
  const drawn: Mutant[] = [];
  const times = new Map<string, number>();
  const countOf = (key: string): number => times.get(key) ?? 0;
  while (drawn.length < count && left.length > 0) {
    const ranks = left.map(({ operator, file }) => [countOf(operator), countOf(file)] as const);
    const least = ranks.reduce((best, rank, at) => (isLess(rank, ranks[best] ?? rank) ? at : best), 0);
    for (const mutant of left.splice(least, 1)) {
      drawn.push(mutant);
      for (const key of [mutant.operator, mutant.file]) times.set(key, countOf(key) + 1);
    }
  }
  return drawn;
}

function isLess(one: readonly [number, number], other: readonly [number, number]): boolean {
  return one[0] < other[0] || (one[0] === other[0] && one[1] < other[1]);
}

function shuffle<T>(values: readonly T[], seed: number): T[] {
  const draws = seeded(seed);
  return values
    .map((value) => ({ value, at: draws.chance() }))
    .sort((one, other) => one.at - other.at)
    .map(({ value }) => value);
}
