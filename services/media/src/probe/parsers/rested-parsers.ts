import { NOT_AWAITED } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { Parser } from './parser-process.ts';
import type { ParserStarter } from './parser-starter.ts';

/** A process that is idle for this long ends, unless it is kept warm. */
const IDLE_MS = 60_000;

/** A process that waits for a job. */
interface Offer {
  readonly parser: Promise<Parser>;
  /** Aborted when the wait has ended, so that a busy process leaves no timers behind. */
  readonly rest: AbortController;
}

/** The processes of a pool that no job uses. */
export interface RestedParsers {
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
export function newRestedParsers(clock: Clock, starter: ParserStarter, warmMin: number): RestedParsers {
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
