import { setTimeout as wait } from 'node:timers/promises';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';

const WAIT_MS_MAX = 5000;
const STEP_MS = 10;

/** Resolves once this is so; fails after a while. */
export async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`it never came about: ${isSo.toString()}`);
    await wait(2);
  }
}

/** The same where it takes time of the clock as well. */
export async function untilAfter(clock: FakeClock, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`it never came about: ${isSo.toString()}`);
    await clock.advance(STEP_MS);
    await wait(2);
  }
}
