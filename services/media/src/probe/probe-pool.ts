import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { openCrew } from './pool/crew.ts';
import { openFairQueue } from './pool/fair-queue.ts';
import type { Parsers } from './pool/parsers.ts';
import type { Draw, Probe, ProbeJob, ProbeOrder, ProbeOutcome, Work } from './probe.ts';

/** Drawing takes longer than looking: every pixel is written too. */
const DRAW_TIMES = 4;

/** Jobs that continue the work of an earlier one. */
const CONTINUED: ReadonlySet<Work> = new Set(['redraw', 'picture_thumbnail']);

export interface ProbePool {
  readonly probe: Probe;
  readonly redraw: Draw;
  /** Of a video whose codec the parsers decode. */
  readonly thumbnail: Draw;
  /** Of a picture file. */
  readonly pictureThumbnail: Draw;
  /** Starts the warm processes. */
  warm(): void;
  stop(): Promise<void>;
}

export interface ProbePoolOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly parsers: Parsers;
  readonly workers: number;
  /** Processes that wait for a file even when none comes. */
  readonly warm: number;
  /** The most files that wait, over all and of one account. */
  readonly queueMax: number;
  readonly queuePerAccountMax: number;
  /** Of the processor, for each file. A file that takes longer is not read. */
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
export function openProbePool(options: ProbePoolOptions): ProbePool {
  const { clock, log, memoryBytes, timeoutMs, pixelsMax } = options;
  const queue = openFairQueue({
    clock,
    workers: options.workers,
    perAccountMax: options.queuePerAccountMax,
    totalMax: options.queueMax,
  });
  const crew = openCrew({ ...options, jobProcessorMs: DRAW_TIMES * timeoutMs });

  const run = async (job: ProbeJob, { accountId, signal }: ProbeOrder): Promise<ProbeOutcome> => {
    const turn = await queue.enter({ account: accountId, isContinued: CONTINUED.has(job.work), signal });
    let used = 0;
    try {
      const parser = await crew.take();
      const { outcome, usedMs } = await parser.run({ ...job, clock, memoryBytes }).finally(() => {
        crew.giveBack(parser);
      });
      used = usedMs;
      if (outcome === undefined)
        log.warn({ accountId, usedMs }, 'a file held up, filled or ended its parser; the process was ended');
      return outcome ?? { fault: 'overrun' };
    } finally {
      turn.end(used);
    }
  };
  const draw =
    (work: Work, ms: number): Draw =>
    (path, into, order) =>
      run({ work, path, into, pixelsMax, timeoutMs: ms }, order);
  return {
    probe: (path, order) => run({ work: 'probe', path, into: '', pixelsMax, timeoutMs }, order),
    redraw: draw('redraw', DRAW_TIMES * timeoutMs),
    thumbnail: draw('thumbnail', timeoutMs),
    pictureThumbnail: draw('picture_thumbnail', timeoutMs),
    warm: () => {
      crew.warm();
    },
    stop: async () => {
      queue.stop();
      await crew.stop();
    },
  };
}
