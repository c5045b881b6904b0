import type { Parser, ParserJob, ParserRun } from './parser-process.ts';
import type { ParserWorkers } from './parser-workers.ts';

/** The result of parsing a file, or the reason for which it could not be parsed. */
export type ParseResult = { readonly usedMs: number } & (
  { readonly outcome: ParserRun['outcome'] } | { readonly refusal: unknown }
);

/**
 * Has one process parse the files. Those that are in doubt get another one, which has parsed no file yet, so each round
 * judges its first file at least.
 */
export async function parseAll(workers: ParserWorkers, jobs: readonly ParserJob[]): Promise<readonly ParseResult[]> {
  const parsed = new Map<ParserJob, ParseResult>();
  let left = jobs;
  for (let round = 0; left.length > 0; round += 1) {
    const runs = await runOn(workers, round === 0 ? workers.take() : workers.start(), left);
    left.forEach((job, at) => {
      const run = runs[at] ?? { refusal: new Error('a file has no answer'), usedMs: 0 };
      parsed.set(job, { ...run, usedMs: run.usedMs + (parsed.get(job)?.usedMs ?? 0) });
    });
    left = left.filter((_job, at) => isInDoubt(runs[at]) && (round === 0 || at > 0));
  }
  return jobs.map((job) => parsed.get(job) ?? { refusal: new Error('a file has no answer'), usedMs: 0 });
}

type Run = ParserRun | Extract<ParseResult, { readonly refusal: unknown }>;

/** A process that does not start is the refusal of the files that it should have parsed. */
async function runOn(
  workers: ParserWorkers,
  taking: Promise<Parser>,
  jobs: readonly ParserJob[],
): Promise<readonly Run[]> {
  let parser: Parser | undefined;
  try {
    parser = await taking;
    return await parser.run(jobs);
  } catch (refusal) {
    return jobs.map(() => ({ refusal, usedMs: 0 }));
  } finally {
    if (parser !== undefined) workers.giveBack(parser);
  }
}

function isInDoubt(run: Run | undefined): boolean {
  return run !== undefined && 'isInDoubt' in run && run.isInDoubt;
}
