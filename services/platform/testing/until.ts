import { setTimeout as wait } from 'node:timers/promises';
import type { FakeClock } from './fake-clock.ts';

/** Only ends a test that hangs: no verdict depends on it. */
const WAIT_MS_MAX = 60_000;
const PAUSE_MS = 2;
const CLOCK_STEP_MS = 10;

/** Resolves once the condition holds as a result of real I/O. Rejects after a time limit. */
export async function until(condition: () => boolean | Promise<boolean>, limitMs = WAIT_MS_MAX): Promise<void> {
  return repeatUntil(condition, async () => undefined, limitMs);
}

/** The same for a condition that also needs the clock to advance. */
export async function untilAfter(clock: FakeClock, condition: () => boolean | Promise<boolean>): Promise<void> {
  return repeatUntil(condition, () => clock.advance(CLOCK_STEP_MS), WAIT_MS_MAX);
}

async function repeatUntil(
  condition: () => boolean | Promise<boolean>,
  pause: () => Promise<void>,
  limitMs: number,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`the condition did not come to hold: ${condition.toString()}`);
    await pause();
    await wait(PAUSE_MS);
  }
}
