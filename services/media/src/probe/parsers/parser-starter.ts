import type { Problem } from '@reelgate/platform/problem';
import { isRecent } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { backgroundLog } from '@reelgate/platform/log';
import type { Log } from '@reelgate/platform/log';
import type { ParserLimits } from './parser-command.ts';
import type { Parser } from './parser-process.ts';
import type { Parsers } from './parsers.ts';
import { refuse } from '../../refusals.ts';

const BACKOFF_MS = 250;
const BACKOFF_MS_MAX = 10_000;
const RETRY_MS_MIN = 1000;

export interface StarterOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly parsers: Parsers;
  readonly limits: ParserLimits;
  readonly stopping: AbortSignal;
}

export interface ParserStarter {
  /** Starts a process that takes files. If no process starts, the starter is busy, longer after each failure. */
  start(): Promise<Parser>;
  /** Throws the error of `start` if the starter is busy. */
  assertReady(): void;
  readonly isHeldBack: boolean;
  readonly isStarting: boolean;
  /** Reports whether a process started at most `ms` ago. */
  isYounger(parser: Parser, ms: number): boolean;
  end(parser: Parser): Promise<void>;
  endAll(): Promise<void>;
}

export function parserStarter({ clock, log, parsers, limits, stopping }: StarterOptions): ParserStarter {
  /** The start time of each process. */
  const all = new Map<Parser, number>();
  let [starting, failures, notBefore] = [0, 0, 0];
  const lines = backgroundLog(log);
  const isHeldBack = (): boolean => stopping.aborted || clock.now() < notBefore;

  const assertReady = (): void => {
    if (isHeldBack()) throw notStarted(notBefore - clock.now());
  };
  const end = async (parser: Parser): Promise<void> => {
    await parser.kill();
    all.delete(parser);
  };
  const start = async (): Promise<Parser> => {
    const parser = await parsers.start(limits);
    all.set(parser, clock.now());
    if ((await parser.isUp(clock)) && !stopping.aborted) return parser;
    await end(parser);
    throw new Error('a parser did not start');
  };
  return {
    end,
    assertReady,
    get isHeldBack() {
      return isHeldBack();
    },
    get isStarting() {
      return starting > 0;
    },
    isYounger: (parser, ms) => isRecent(clock, all.get(parser) ?? -Infinity, ms),
    start: async () => {
      assertReady();
      starting += 1;
      try {
        const parser = await start();
        failures = 0;
        return parser;
      } catch (error) {
        failures += 1;
        notBefore = clock.now() + Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** failures);
        if (!stopping.aborted) lines.error({ failures, err: error }, 'a parser was not started');
        throw notStarted(notBefore - clock.now(), error);
      } finally {
        starting -= 1;
      }
    },
    endAll: async () => {
      await Promise.all([...all.keys()].map(end));
    },
  };
}

function notStarted(waitMs: number, cause?: unknown): Problem {
  return refuse('media_busy', {
    message: 'cannot be checked now: no parser is running; try again',
    retryAfterMs: Math.max(RETRY_MS_MIN, waitMs),
    cause,
  });
}
