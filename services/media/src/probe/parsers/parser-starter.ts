import { Problem } from '@reelgate/platform/problem';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { ParserLimits } from './parser-command.ts';
import type { Parser } from './parser-process.ts';
import type { Parsers } from './parsers.ts';

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
  readonly isHeldBack: boolean;
  end(parser: Parser): Promise<void>;
  endAll(): Promise<void>;
}

export function parserStarter({ clock, log, parsers, limits, stopping }: StarterOptions): ParserStarter {
  const all = new Set<Parser>();
  let failures = 0;
  let notBefore = 0;
  const isHeldBack = (): boolean => stopping.aborted || clock.now() < notBefore;

  const end = async (parser: Parser): Promise<void> => {
    await parser.kill();
    all.delete(parser);
  };
  const start = async (): Promise<Parser> => {
    const parser = await parsers.start(limits);
    all.add(parser);
    if ((await parser.isUp(clock)) && !stopping.aborted) return parser;
    await end(parser);
    throw new Error('a parser did not start');
  };
  return {
    end,
    get isHeldBack() {
      return isHeldBack();
    },
    start: async () => {
      if (isHeldBack()) throw notStarted(notBefore - clock.now());
      try {
        const parser = await start();
        failures = 0;
        return parser;
      } catch (error) {
        failures += 1;
        notBefore = clock.now() + Math.min(BACKOFF_MS_MAX, BACKOFF_MS * 2 ** failures);
        if (!stopping.aborted) log.error({ failures, err: error }, 'a parser was not started');
        throw notStarted(notBefore - clock.now(), error);
      }
    },
    endAll: async () => {
      await Promise.all([...all].map(end));
    },
  };
}

function notStarted(waitMs: number, cause?: unknown): Problem {
  return new Problem({
    kind: 'unavailable',
    reason: 'media_busy',
    message: 'cannot be checked now: no parser is running; try again',
    retryAfterMs: Math.max(RETRY_MS_MIN, waitMs),
    cause,
  });
}
