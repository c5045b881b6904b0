import { createHash } from 'node:crypto';
import path from 'node:path';
import type { Clock } from '@reelgate/platform/clock';
import { KEPT_SEEDS } from '../whole/kept-seeds.ts';
import { ENDLESS, runBatch } from '../whole/run-batch.ts';
import type { SeedReport } from '../whole/seed-report.ts';
import { applyEdit } from './mutant.ts';
import type { Mutant } from './mutant.ts';
import type { RepositoryCopy } from './repository-copy.ts';
import { isReached, readCoverage } from './read-coverage.ts';
import type { Coverage } from './read-coverage.ts';
import { listUnitTests, nameCompileCache, runUnitTests } from './unit-tests.ts';
import type { TestEnd } from './unit-tests.ts';

const NEW_SEEDS = 20;
/** A seed takes some seconds. */
const SEED_MS_MAX = 90_000;
const HEAP_MB_MAX = 2048;

/** The verdicts on a mutant, cheapest kill first. A mutant survives all judges, or waits until the seeds judge it. */
export const VERDICTS = ['unit tests', 'kept seeds', 'new seeds', 'time', 'survived', 'waits'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** How a mutant ended, as a line of the report. */
export interface Judgement {
  readonly name: string;
  readonly operator: string;
  readonly before: string;
  readonly becomes: string;
  /** The hash of the file that it was made of: of another text, it is another mutant. */
  readonly source: string;
  readonly verdict: Verdict;
  /** The test or the rule that failed; for a survivor, in how many seeds the simulation took another course. */
  readonly by: string;
  readonly ms: number;
}

/** The seeds without a mutant: those kept, and the new ones from `firstSeed` on. */
export interface Baseline {
  readonly firstSeed: number;
  readonly seeds: readonly SeedReport[];
  /** The places that the seeds ran. A mutant anywhere else cannot change a seed. */
  readonly coverage: Coverage;
}

export interface Judge {
  readonly copy: RepositoryCopy;
  readonly clock: Clock;
  /** Aborted: the mutant that is judged now has no verdict. */
  readonly kill: AbortSignal;
}

interface Kill {
  readonly verdict: Verdict;
  readonly by: string;
}

interface SeedsEnd {
  readonly reports: readonly SeedReport[];
  /** Undefined if every seed held every rule. */
  readonly kill: Kill | undefined;
}

/** Judges a mutant by the unit tests of its folder. Returns undefined if it was interrupted. */
export function judgeByTests(judge: Judge, mutant: Mutant): Promise<Judgement | undefined> {
  const waits: Kill = { verdict: 'waits', by: 'the unit tests pass' };
  return judgeMutant(judge, mutant, async () => (await findTestKill(judge, mutant.file)) ?? waits);
}

/** Judges a mutant by the kept seeds and by new ones. Returns undefined if it was interrupted. */
export function judgeBySeeds(judge: Judge, mutant: Mutant, baseline: Baseline): Promise<Judgement | undefined> {
  return judgeMutant(judge, mutant, () => findSeedKill(judge, mutant, baseline));
}

async function judgeMutant(
  { copy, clock, kill }: Judge,
  mutant: Mutant,
  findKill: () => Promise<Kill>,
): Promise<Judgement | undefined> {
  const begunAt = clock.now();
  let source = '';
  const restore = copy.edit(mutant.file, (text) => {
    source = hashText(text);
    return applyEdit(text, mutant);
  });
  try {
    const { verdict, by } = await findKill();
    if (kill.aborted) return undefined;
    const { name, operator, before, becomes } = mutant;
    return { name, operator, before, becomes, source, verdict, by, ms: clock.now() - begunAt };
  } finally {
    restore();
  }
}

/** Hashes the text of a file. */
export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

/** Runs the unit tests of a file without a mutant. Returns what fails, or undefined. */
export async function findTestFault(judge: Judge, file: string): Promise<string | undefined> {
  return (await findTestKill(judge, file))?.by;
}

/** Runs the seeds without a mutant. Throws an error if one of them breaks a rule. */
export async function runBaseline(judge: Judge, firstSeed: number, files: readonly string[]): Promise<Baseline> {
  const { folder } = judge.copy;
  const ran = path.join(folder, '.ran');
  // with code from the cache, V8 counts whole functions
  const { reports, kill } = await runSeeds(judge, firstSeed, { NODE_V8_COVERAGE: ran, NODE_COMPILE_CACHE: '' });
  if (kill !== undefined) throw new Error(`the product breaks a rule without a mutant: ${kill.by}`);
  return { firstSeed, seeds: reports, coverage: readCoverage(ran, folder, files) };
}

async function findTestKill(judge: Judge, file: string): Promise<Kill | undefined> {
  for (const tests of listUnitTests(judge.copy.folder, file)) {
    const end: TestEnd = await runUnitTests(judge.copy.folder, tests, judge);
    if (end.end === 'timeout') return { verdict: 'time', by: `the tests do not end: ${tests.join(', ')}` };
    if (end.end === 'failed') return { verdict: 'unit tests', by: end.test };
  }
  return undefined;
}

async function findSeedKill(
  judge: Judge,
  { file, start }: Mutant,
  { seeds, firstSeed, coverage }: Baseline,
): Promise<Kill> {
  if (!isReached(coverage, file, start)) return { verdict: 'survived', by: 'no seed runs this place' };
  const env = { NODE_COMPILE_CACHE: nameCompileCache(judge.copy.folder) };
  const { reports, kill } = await runSeeds(judge, firstSeed, env);
  if (kill !== undefined) return kill;
  const changed = reports.filter((report, at) => !isSameCourse(report, seeds[at]));
  return { verdict: 'survived', by: `${changed.length} of ${reports.length} seeds took another course` };
}

function isSameCourse(one: SeedReport, other: SeedReport | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Plays the kept seeds, then the new ones, up to the first broken rule. */
async function runSeeds({ copy, clock, kill }: Judge, firstSeed: number, env: NodeJS.ProcessEnv): Promise<SeedsEnd> {
  const reports: SeedReport[] = [];
  const main = path.join(copy.folder, 'test/simulation/whole/main.ts');
  const flags = ['--disable-warning=ExperimentalWarning', `--max-old-space-size=${HEAP_MB_MAX}`];
  const seeds = ['--kept', '--seed', String(firstSeed), '--seeds', String(NEW_SEEDS), '--json'];
  const fault = await runBatch({
    ...{ words: [...flags, main, ...seeds], env, clock, silenceMsMax: SEED_MS_MAX, stop: kill, kill },
    onReport: (report) => {
      reports.push(report);
    },
  });
  const last = reports.at(-1);
  if (fault !== undefined) return { reports, kill: toSeedKill(reports.length, fault.rule, fault.detail) };
  if (last?.rule === undefined) return { reports, kill: undefined };
  return { reports, kill: toSeedKill(reports.length - 1, `seed ${last.seed}: ${last.rule}`, last.detail ?? '') };
}

function toSeedKill(at: number, rule: string, detail: string): Kill {
  if (rule === ENDLESS) return { verdict: 'time', by: rule };
  return { verdict: at < KEPT_SEEDS.length ? 'kept seeds' : 'new seeds', by: `${rule}: ${readCause(detail)}` };
}

/** The line that names an error, or the first one. */
function readCause(detail: string): string {
  const lines = detail.split('\n').filter((line) => line.trim() !== '');
  return (lines.find((line) => /Error\b.*:/.test(line)) ?? lines[0] ?? '').slice(0, 300);
}
