import { systemClock } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { shortDuration } from './format/times.ts';
import type { Terminal } from './terminal.ts';

/** For a call that reads the whole ledger. */
export const LEDGER_TIMEOUT_MS = 600_000;
const EVERY_MS = 500;

/** Shows the work and the elapsed time of a call that does not report before it ends. */
export async function whileShowing<T>(
  terminal: Terminal,
  what: string | (() => string),
  work: () => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  const over = new AbortController();
  const began = clock.now();
  const ticking = (async () => {
    while (!over.signal.aborted) {
      terminal.progress(`${typeof what === 'string' ? what : what()}  ${shortDuration(clock.now() - began)}`);
      await clock.sleep(EVERY_MS, over.signal);
    }
  })();
  try {
    return await work();
  } finally {
    over.abort();
    await ticking;
    terminal.clear();
  }
}
