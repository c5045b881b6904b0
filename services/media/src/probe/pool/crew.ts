import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { Parser } from './parser-process.ts';
import { parserStarter } from './parser-starter.ts';
import type { Parsers } from './parsers.ts';

/** After so many files, or so much of the processor, a process is replaced: what leaks is bounded. */
const JOBS_MAX = 500;
const PROCESSOR_LIFE_MS = 120_000;
/** A process that has nothing to do ends, but for those that are kept warm. */
const IDLE_MS = 60_000;

export interface CrewOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly parsers: Parsers;
  /** Processes that wait for a file even when none comes. */
  readonly warm: number;
  /** Of JavaScript, and of all that a process holds. */
  readonly heapBytes: number;
  readonly memoryBytes: number;
  /** Of the processor, for one file at most. */
  readonly jobProcessorMs: number;
}

/** The processes of a pool. What comes back is used again, unless it is over or worn. */
export interface Crew {
  take(): Promise<Parser>;
  giveBack(parser: Parser): void;
  /** Starts those that are kept warm and are not there. */
  warm(): void;
  stop(): Promise<void>;
}

export function openCrew({ clock, log, parsers, warm: warmMin, heapBytes, memoryBytes, jobProcessorMs }: CrewOptions): Crew {
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
    // whoever has taken it is told why it failed
    parser.catch(() => { forget(parser); });
  };
  const warm = (): void => {
    while (ready.length < warmMin && !starter.isHeldBack) offer(starter.start());
  };
  /** Ends it when it was not taken for a while. */
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
      const isWorn = parser.isOver || parser.jobs >= JOBS_MAX || parser.usedMs >= PROCESSOR_LIFE_MS || stopping.signal.aborted;
      void (isWorn ? starter.end(parser) : rest(parser));
      warm();
    },
    stop: async () => {
      stopping.abort();
      await starter.endAll();
    },
  };
}
