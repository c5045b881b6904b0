import { waitForTicks, newBatcher } from '@reelgate/platform/batcher';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { newParserWorkers } from '../parsers/parser-workers.ts';
import type { ParserWorkers } from '../parsers/parser-workers.ts';
import type { ParserJob, Parser, ParserRun } from '../parsers/parser-process.ts';
import { newFairQueue } from './fair-queue.ts';
import type { Parsers } from '../parsers/parsers.ts';
import type { Draw, ProbeJob, ProbeParsers, ProbeOrder, ProbeOutcome, Work } from '../probe.ts';

/** A redraw takes longer than a probe, because it also encodes every pixel. */
const DRAW_TIMES = 4;

/** Jobs that continue the work of an earlier one. */
const CONTINUED: ReadonlySet<Work> = new Set(['redraw', 'picture_thumbnail']);

export interface ThumbnailPool {
  /** Draws the thumbnail of a video if the parsers decode its codec. */
  readonly thumbnail: Draw;
  /** Draws the thumbnail of a picture file. */
  readonly pictureThumbnail: Draw;
}

export interface ProbePool extends ThumbnailPool, ProbeParsers {
  readonly redraw: Draw;
  /** Starts the warm processes. */
  warm(): void;
  stop(): Promise<void>;
}

export interface ProbePoolOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly parsers: Parsers;
  readonly workers: number;
  /**
   * The maximum number of files that a process gets at one time, so that it need not wait for this process between two
   * small files. Only a process that does not draw may get several.
   */
  readonly filesMax: number;
  /** The number of processes that wait for a file even while no file is due. */
  readonly warm: number;
  /** The maximum number of waiting files, in total and of one account. */
  readonly queueMax: number;
  readonly queuePerAccountMax: number;
  /** The processor time for one file. A file that takes longer is refused. */
  readonly timeoutMs: number;
  /** The JavaScript heap of a process, and all of its memory. */
  readonly heapBytes: number;
  readonly memoryBytes: number;
  readonly pixelsMax: number;
}

/**
 * Runs a few child processes, which accounts share. They start on demand and are used again. A process that a file
 * blocks, fills or crashes is replaced.
 */
export function newProbePool(options: ProbePoolOptions): ProbePool {
  const { clock, log, memoryBytes, timeoutMs, pixelsMax } = options;
  const queue = newFairQueue({
    clock,
    workers: options.workers,
    filesMax: options.filesMax,
    perAccountMax: options.queuePerAccountMax,
    totalMax: options.queueMax,
  });
  const workers = newParserWorkers({ ...options, jobProcessorMs: DRAW_TIMES * timeoutMs });

  const batcher = newBatcher<ParserJob, ParseResult>({
    batchMax: options.filesMax,
    concurrency: options.workers,
    fill: () => waitForTicks(1),
    send: (jobs) => parseAll(workers, jobs),
  });

  const run = async (job: ProbeJob, { accountId, signal }: ProbeOrder): Promise<ProbeOutcome> => {
    const permit = await queue.enter({ account: accountId, isContinued: CONTINUED.has(job.work), signal });
    let used = 0;
    try {
      const parsed = await batcher.add({ ...job, clock, memoryBytes });
      used = parsed.usedMs;
      if ('refusal' in parsed) throw parsed.refusal;
      const { outcome, usedMs } = parsed;
      if (outcome === undefined)
        log.warn({ accountId, usedMs }, 'a file blocked, filled or ended its parser; the process was ended');
      return outcome ?? { fault: 'overrun' };
    } finally {
      permit.end(used);
    }
  };
  const draw =
    (work: Work, ms: number): Draw =>
    (path, into, order) =>
      run({ work, path, into, pixelsMax, timeoutMs: ms }, order);
  return {
    assertReady: () => workers.assertReady(),
    probe: (path, order) => run({ work: 'probe', path, into: '', pixelsMax, timeoutMs }, order),
    redraw: draw('redraw', DRAW_TIMES * timeoutMs),
    thumbnail: draw('thumbnail', timeoutMs),
    pictureThumbnail: draw('picture_thumbnail', timeoutMs),
    warm: () => workers.warm(),
    stop: async () => {
      queue.stop();
      await workers.stop();
    },
  };
}

/** The result of parsing a file, or the reason for which it could not be parsed. */
export type ParseResult = { readonly usedMs: number } & (
  { readonly outcome: ParserRun['outcome'] } | { readonly refusal: unknown }
);

/**
 * Has one process parse the files. Those that are in doubt get another one, which has parsed no file yet, so each round
 * judges its first file at least.
 */
async function parseAll(workers: ParserWorkers, jobs: readonly ParserJob[]): Promise<readonly ParseResult[]> {
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
