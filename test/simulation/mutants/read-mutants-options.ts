import { parseArgs } from 'node:util';
import { BadOption, readNumber, readTime } from '../whole/read-options.ts';
import { FOLDERS } from './draw-mutants.ts';

const COUNT = 300;
const COUNT_MAX = 100_000;
const CORES_MAX = 64;

const USAGE = `npm run mutants -- --seed N [--count COUNT] [--cores N] [--only FOLDER] [--until HH:MM] [--keep FOLDER]
npm run mutants -- --mutant FILE:LINE:COLUMN:OPERATOR`;

export interface MutantsOptions {
  readonly seed: number;
  readonly count: number;
  readonly cores: number;
  /** A folder or file. Undefined: all that are mutated. */
  readonly only: string | undefined;
  /** Minutes of the day. */
  readonly until: number | undefined;
  /** The folder of the report. */
  readonly keep: string | undefined;
  readonly mutant: string | undefined;
}

/** Reads the command line. Throws BadOption. */
export function readMutantsOptions(words: readonly string[]): MutantsOptions {
  const { seed, count, cores, only, until, keep, mutant } = parseWords(words);
  return {
    seed: readBounded('seed', seed, { least: 0, most: COUNT_MAX, otherwise: 1 }),
    count: readBounded('count', count, { least: 0, most: COUNT_MAX, otherwise: COUNT }),
    cores: readBounded('cores', cores, { least: 1, most: CORES_MAX, otherwise: 1 }),
    only: readFolder(only),
    until: readTime(until),
    keep,
    mutant,
  };
}

function parseWords(words: readonly string[]) {
  const names = ['seed', 'count', 'cores', 'only', 'until', 'keep', 'mutant'] as const;
  try {
    const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
    return parseArgs({ args: [...words], options }).values as Partial<Record<(typeof names)[number], string>>;
  } catch (error) {
    throw new BadOption(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`, { cause: error });
  }
}

function readBounded(
  name: string,
  text: string | undefined,
  { least, most, otherwise }: { readonly least: number; readonly most: number; readonly otherwise: number },
): number {
  const value = readNumber(name, text) ?? otherwise;
  if (value < least || value > most)
    throw new BadOption(`${name}: ${value} is out of bounds; expected ${least} to ${most}`);
  return value;
}

function readFolder(only: string | undefined): string | undefined {
  if (only === undefined || FOLDERS.some((folder) => folder.startsWith(only) || only.startsWith(folder))) return only;
  throw new BadOption(`only: ${only} is not mutated; expected one of ${FOLDERS.join(', ')}, or a part of one`);
}
