import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { Parser } from './parser-process.ts';
import { parserStarter } from './parser-starter.ts';
import type { Parsers } from './parsers.ts';

/** A process is replaced after `JOBS_MAX` files or `PROCESSOR_LIFE_MS` of processor time, so leaks are bounded. */
const JOBS_MAX = 500;
const PROCESSOR_LIFE_MS = 120_000;
/** A process that is idle for this long ends, unless it is kept warm. */
const IDLE_MS = 60_000;

export interface ParserWorkersOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly parsers: Parsers;
  /** Processes that wait for a file even when none comes. */
  readonly warm: number;
  /** The JavaScript heap of a process, and all of its memory. */
  readonly heapBytes: number;
  readonly memoryBytes: number;
  /** The most processor time for one file. */
  readonly jobProcessorMs: number;
}

/** The processes of a pool. A process that is given back is used again, unless it has ended or is worn. */
export interface ParserWorkers {
  take(): Promise<Parser>;
  giveBack(parser: Parser): void;
  /** Starts the missing warm processes. */
  warm(): void;
  stop(): Promise<void>;
}

export function openParserWorkers({
  clock,
  log,
  parsers,
  warm: warmMin,
  heapBytes,
  memoryBytes,
  jobProcessorMs,
}: ParserWorkersOptions): ParserWorkers {
  const stopping = new AbortController();
  const limits = { heapBytes, memoryBytes, processorMs: PROCESSOR_LIFE_MS + 2 * jobProcessorMs };
  const starter = parserStarter({ clock, log, parsers, limits, stopping: stopping.signal });
  const ready: Promise<Parser>[] = [];

  const forget = (offered: Promise<Parser>): boolean => {
    const at = ready.indexOf(offered);
    if (at >= 0) void ready.splice(at, 1);
    return at >= 0;
  };
  const offer = (parser: Promise<Parser>): void => {
    ready.push(parser);
    // the caller of `take` gets the error
    parser.catch(() => {
      forget(parser);
    });
  };
  const warm = (): void => {
    while (ready.length < warmMin && !starter.isHeldBack) offer(starter.start());
  };
  /** Ends a process that no job has taken for `IDLE_MS`. */
  const rest = async (parser: Parser): Promise<void> => {
    const offered = Promise.resolve(parser);
    offer(offered);
    await clock.sleep(IDLE_MS, stopping.signal);
    if (ready.length > warmMin && !stopping.signal.aborted && forget(offered)) await starter.end(parser);
  };
  return {
    warm,
    take: async () => {
      for (let offered = ready.pop(); offered !== undefined; offered = ready.pop()) {
        const parser = await offered;
        if (!parser.isOver) return parser;
        await starter.end(parser);
      }
      return starter.start();
    },
    giveBack: (parser) => {
      const isWorn =
        parser.isOver || parser.jobs >= JOBS_MAX || parser.usedMs >= PROCESSOR_LIFE_MS || stopping.signal.aborted;
      void (isWorn ? starter.end(parser) : rest(parser));
      warm();
    },
    stop: async () => {
      stopping.abort();
      await starter.endAll();
    },
  };
}
