import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { seeded } from '../../harness/seeded.ts';
import { listMutants } from './list-mutants.ts';
import type { Mutant } from './mutant.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** The mutated folders: the operations and stores of tasks and billing, and the creates and charges of the gateway. */
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
 * Draws mutants by a seed. Each draw takes the operator that was drawn least, then the service, then the file, so that a
 * small draw already covers many of all three. A larger draw with the same seed begins with the smaller one.
 */
export function drawMutants(mutants: readonly Mutant[], seed: number, count: number): readonly Mutant[] {
  const left = shuffle(mutants, seed);
  const drawn: Mutant[] = [];
  const times = new Map<string, number>();
  const rank = (mutant: Mutant): readonly number[] => listTraits(mutant).map((trait) => times.get(trait) ?? 0);
  while (drawn.length < count && left.length > 0) {
    const ranks = left.map(rank);
    const least = ranks.reduce((best, other, at) => (isLess(other, ranks[best] ?? other) ? at : best), 0);
    for (const mutant of left.splice(least, 1)) {
      drawn.push(mutant);
      for (const trait of listTraits(mutant)) times.set(trait, (times.get(trait) ?? 0) + 1);
    }
  }
  return drawn;
}

function listTraits({ operator, file }: Mutant): readonly string[] {
  return [operator, file.split('/').slice(0, 2).join('/'), file];
}

function isLess(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((count, index) => count !== other[index]);
  return at >= 0 && (one[at] ?? 0) < (other[at] ?? 0);
}

function shuffle<T>(values: readonly T[], seed: number): T[] {
  const draws = seeded(seed);
  return values
    .map((value) => ({ value, at: draws.chance() }))
    .sort((one, other) => one.at - other.at)
    .map(({ value }) => value);
}
