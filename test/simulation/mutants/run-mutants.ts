import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '@reelgate/platform/clock';
import { findTestFault, hashText, judgeBySeeds, judgeByTests, runBaseline } from './judge-mutant.ts';
import type { Baseline, Judge, Judgement } from './judge-mutant.ts';
import { describeJudgement, showSummary } from './judgements.ts';
import type { Report } from './judgements.ts';
import { listMutatedFiles } from './draw-mutants.ts';
import type { Mutant } from './mutant.ts';
import { hashRepository, WITHOUT_EFFECT } from './repository-copy.ts';
import type { Copies } from './repository-copy.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
/** A test that depends on the load of the machine may fail without a mutant. */
const UNIT_TRIES = 2;

export interface MutantsRun {
  readonly copies: Copies;
  readonly cores: number;
  /** The new seeds begin here. */
  readonly firstSeed: number;
  readonly report: Report;
  readonly clock: Clock;
  readonly print: (text: string) => void;
  /** Judges also what the report has. */
  readonly isAgain: boolean;
  /** Aborted: the run ends after the mutants that are judged now. */
  readonly stop: AbortSignal;
  /** Aborted: it ends at once. */
  readonly kill: AbortSignal;
}

/**
 * Judges the mutants that the report does not have yet, and prints a summary. The unit tests judge all of them before
 * the seeds judge what is left: a run that ends early has then found most kills.
 */
export async function runMutants(run: MutantsRun, mutants: readonly Mutant[]): Promise<void> {
  const { report, print, isAgain } = run;
  const known = new Map(report.list().map((judgement) => [judgement.name, judgement]));
  const find = ({ name, file }: Mutant): Judgement | undefined => {
    const judgement = isAgain ? undefined : known.get(name);
    return judgement?.source === hashFile(file) ? judgement : undefined;
  };
  const unjudged = mutants.filter((mutant) => find(mutant) === undefined);
  const waiting = mutants.filter((mutant) => find(mutant)?.verdict === 'waits');
  print(`${mutants.length} mutants: ${unjudged.length} for the unit tests, ${waiting.length} for the seeds`);
  if (unjudged.length + waiting.length > 0)
    await Promise.all(Array.from({ length: run.cores }, (_none, core) => runCore(run, core, { unjudged, waiting })));
  if (!isAgain) print(showSummary(report.list()));
}

function hashFile(file: string): string {
  return hashText(readFileSync(path.join(ROOT, file), 'utf8'));
}

/** The mutants that no core has taken yet. */
interface Left {
  readonly unjudged: Mutant[];
  readonly waiting: Mutant[];
}

async function runCore(run: MutantsRun, core: number, { unjudged, waiting }: Left): Promise<void> {
  const { copies, clock, kill, stop, report, print } = run;
  const judge: Judge = { copy: copies.add(`core-${core}`), clock, kill };
  const state = hashRepository(WITHOUT_EFFECT.unitTests);
  const isOver = (): boolean => stop.aborted || kill.aborted;
  const add = (judgement: Judgement | undefined, left: readonly Mutant[]): void => {
    if (judgement === undefined) return;
    report.add(judgement);
    print(`${left.length} left; ${describeJudgement(judgement)}`);
  };
  for (let mutant = unjudged.shift(); mutant !== undefined && !isOver(); mutant = unjudged.shift()) {
    const { file, name } = mutant;
    const fault = await report.recall(state, path.dirname(file), () => findLastingFault(judge, file));
    const judgement = fault === '' ? await judgeByTests(judge, mutant) : undefined;
    if (fault !== '') print(`${name}: not judged; the tests of its folder fail without it: ${fault}`);
    if (judgement?.verdict === 'waits') waiting.push(mutant);
    add(judgement, unjudged);
  }
  if (isOver() || waiting.length === 0) return;
  const baseline = await readBaseline(run, judge);
  for (let mutant = waiting.shift(); mutant !== undefined && !isOver(); mutant = waiting.shift())
    add(await judgeBySeeds(judge, mutant, baseline), waiting);
}

function readBaseline({ report, firstSeed }: MutantsRun, judge: Judge): Promise<Baseline> {
  const state = hashRepository(WITHOUT_EFFECT.seeds);
  return report.recall(state, `seeds ${firstSeed}`, () => runBaseline(judge, firstSeed, listMutatedFiles()));
}

/** Returns what fails in each try without a mutant, or an empty text. */
async function findLastingFault(judge: Judge, file: string): Promise<string> {
  let fault: string | undefined;
  for (let tries = 0; tries < UNIT_TRIES; tries += 1) {
    fault = await findTestFault(judge, file);
    if (fault === undefined) return '';
  }
  return fault ?? '';
}
