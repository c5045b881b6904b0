import { setTimeout as wait } from 'node:timers/promises';

const BOUND_MS = 5000;
const LOOK_MS = 10;

/** Waits for what comes a moment later, by real I/O, and not for ever. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + BOUND_MS;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('it did not come to that');
    await wait(LOOK_MS);
  }
}
