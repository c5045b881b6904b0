import { setTimeout as wait } from 'node:timers/promises';

const WAIT_MS_MAX = 5000;

/** Resolves once this is so; fails after a while. */
export async function until(isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + WAIT_MS_MAX;
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`it never came about: ${isSo.toString()}`);
    await wait(2);
  }
}
