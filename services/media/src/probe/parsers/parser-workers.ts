import { NOT_AWAITED } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { Parser } from './parser-process.ts';
import { parserStarter } from './parser-starter.ts';
import type { ParserStarter } from './parser-starter.ts';
import type { Parsers } from './parsers.ts';

/**
 * A process is replaced after `JOBS_MAX` files, `PROCESSOR_LIFE_MS` of processor time or at its first file after
 * `LIFE_MS`: so leaks are bounded, and the time in which a process that a file has taken over sees the files of others.
 * A start and its first files cost as much as 900 small videos, a fifth of `JOBS_MAX`.
 */
const JOBS_MAX = 5000;
const PROCESSOR_LIFE_MS = 120_000;
const LIFE_MS = 10 * 60_000;
/**
 * A job waits for a process in use for as long as a start takes. Only then does another process start, because most
 * files take a thousandth of that.
 */
const PATIENCE_MS = 300;
/** A process that is idle for this long ends, unless it is kept warm. */
const IDLE_MS = 60_000;

export interface ParserWorkersOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly parsers: Parsers;
  /** The number of processes that wait for a file even while no file is due. */
  readonly warm: number;
  /** The JavaScript heap of a process, and all of its memory. */
  readonly heapBytes: number;
  readonly memoryBytes: number;
  /** The maximum processor time for one file. */
  readonly jobProcessorMs: number;
}

/**
 * The processes of a pool. A returned process is used again, unless it has ended or is worn. Another process starts
 * when no process is starting and no process was returned in time.
 */
export interface ParserWorkers {
  /** Throws as busy if there is no process and none may start yet, because the last start failed. */
  assertReady(): void;
  take(): Promise<Parser>;
  /** Takes a process that has parsed no file yet. It waits for no other one. */
  start(): Promise<Parser>;
  giveBack(parser: Parser): void;
  /** Starts the missing warm processes. */
  warm(): void;
  stop(): Promise<void>;
}

export function newParserWorkers({
  clock,
  log,
  parsers,
  warm,
  heapBytes,
  memoryBytes,
  jobProcessorMs,
}: ParserWorkersOptions): ParserWorkers {
  const stopping = new AbortController();
  const limits = { heapBytes, memoryBytes, processorMs: PROCESSOR_LIFE_MS + 2 * jobProcessorMs };
  const starter = parserStarter({ clock, log, parsers, limits, stopping: stopping.signal });
  const rested = newRestedParsers(clock, starter, warm);
  const waits = newParserWaits(clock, PATIENCE_MS);
  let inUse = 0;

  const start = async (): Promise<Parser> => {
    inUse += 1;
    try {
      return await starter.start();
    } catch (error) {
      inUse -= 1;
      throw error;
    }
  };
  const take = async (): Promise<Parser> => {
    for (;;) {
      const parser = await rested.take();
      if (parser !== undefined) {
        inUse += 1;
        return parser;
      }
      if (inUse === 0) return start();
      const freed = await waits.next();
      if (freed !== undefined) return freed;
      if (!starter.isStarting) return start();
    }
  };
  return {
    assertReady: () => {
      if (inUse === 0 && rested.isEmpty) starter.assertReady();
    },
    start,
    take,
    warm: () => rested.warm(),
    giveBack: (parser) => {
      const isWorn = parser.isOver || parser.jobs >= JOBS_MAX || parser.usedMs >= PROCESSOR_LIFE_MS;
      const isKept = !isWorn && starter.isYounger(parser, LIFE_MS) && !stopping.signal.aborted;
      // it stays in use
      if (isKept && waits.give(parser)) return;
      inUse -= 1;
      if (isKept) rested.rest(parser);
      else void starter.end(parser);
      rested.warm();
      if (!isKept) waits.giveUp();
    },
    stop: async () => {
      stopping.abort();
      rested.stop();
      await starter.endAll();
    },
  };
}

/** Jobs that wait for a process in use. They are served in their order. */
interface ParserWaits {
  /**
   * Waits for a returned process. Resolves to undefined if none was returned in time, or another process has to start.
   */
  next(): Promise<Parser | undefined>;
  /** Gives a process to the first job. Returns false if no job waits. */
  give(parser: Parser): boolean;
  /** Ends the wait of the first job: no process comes back for it. */
  giveUp(): void;
}

/**
 * Creates the queue of jobs. A job waits for at most `patienceMs`, and there are at most as many jobs as workers in the
 * pool.
 */
function newParserWaits(clock: Clock, patienceMs: number): ParserWaits {
  const waiting = new Set<(parser: Parser | undefined) => void>();
  const giveFirst = (parser: Parser | undefined): boolean => {
    const [first] = waiting;
    first?.(parser);
    return first !== undefined;
  };
  return {
    next: () =>
      new Promise((resolve) => {
        const waits = new AbortController();
        const end = (parser: Parser | undefined): void => {
          waiting.delete(end);
          waits.abort(NOT_AWAITED);
          resolve(parser);
        };
        waiting.add(end);
        void clock.sleep(patienceMs, waits.signal).then(() => {
          if (!waits.signal.aborted) end(undefined);
        });
      }),
    give: giveFirst,
    giveUp: () => {
      giveFirst(undefined);
    },
  };
}

/** A process that waits for a job. */
interface Offer {
  readonly parser: Promise<Parser>;
  /** Aborted when the wait has ended, so that a busy process leaves no timers behind. */
  readonly rest: AbortController;
}

/** The processes of a pool that no job uses. */
interface RestedParsers {
  /** Starting processes count too. */
  readonly isEmpty: boolean;
  /** Returns undefined if there is none. */
  take(): Promise<Parser | undefined>;
  rest(parser: Parser): void;
  /** Starts the missing warm processes. */
  warm(): void;
  stop(): void;
}

/** `warmMin` processes rest even when no job comes. */
function newRestedParsers(clock: Clock, starter: ParserStarter, warmMin: number): RestedParsers {
  const ready: Offer[] = [];
  const forget = (offered: Offer): boolean => {
    const at = ready.indexOf(offered);
    if (at >= 0) void ready.splice(at, 1);
    return at >= 0;
  };
  const offer = (parser: Promise<Parser>): Offer => {
    const offered = { parser, rest: new AbortController() };
    ready.push(offered);
    // the caller of `take` gets the error
    parser.catch(() => {
      forget(offered);
    });
    return offered;
  };
  /** Ends a process that no job has taken for `IDLE_MS`. */
  const rest = async (parser: Parser): Promise<void> => {
    const offered = offer(Promise.resolve(parser));
    await clock.sleep(IDLE_MS, offered.rest.signal);
    if (!offered.rest.signal.aborted && ready.length > warmMin && forget(offered)) await starter.end(parser);
  };
  return {
    get isEmpty() {
      return ready.length === 0;
    },
    take: async () => {
      for (let offered = ready.pop(); offered !== undefined; offered = ready.pop()) {
        offered.rest.abort(NOT_AWAITED);
        const parser = await offered.parser;
        if (!parser.isOver) return parser;
        await starter.end(parser);
      }
      return undefined;
    },
    rest: (parser) => {
      void rest(parser);
    },
    warm: () => {
      while (ready.length < warmMin && !starter.isHeldBack) offer(starter.start());
    },
    stop: () => {
      for (const { rest: resting } of ready) resting.abort(NOT_AWAITED);
    },
  };
}
