import { NOT_AWAITED } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { Parser } from './parser-process.ts';

/** Jobs that wait for a process in use. They are served in their order. */
export interface ParserWaits {
  /** A process that was given back; undefined: none was in time, or another process has to start. */
  next(): Promise<Parser | undefined>;
  /** Gives a process to the first job. False: no job waits. */
  give(parser: Parser): boolean;
  /** Ends the wait of the first job: no process comes back for it. */
  giveUp(): void;
}

/** No job waits for longer than `patienceMs`, and their number is that of the workers of the pool. */
export function openParserWaits(clock: Clock, patienceMs: number): ParserWaits {
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
