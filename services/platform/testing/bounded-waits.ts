import { setTimeout as wait } from 'node:timers/promises';

/** Only ends a test that hangs: no verdict depends on it. */
const WAIT_MS_MAX = 60_000;

/** Resolves as the promise does, or rejects after a time limit. */
export async function inTime<T>(promise: Promise<T>, failure: () => string = () => 'it took too long'): Promise<T> {
  const over = new AbortController();
  const late = wait(WAIT_MS_MAX, undefined, { signal: over.signal }).then(() => {
    throw new Error(failure());
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    over.abort();
    await late.catch(() => undefined);
  }
}

/** A promise that a test resolves. */
export function aGate(): { readonly opened: Promise<unknown>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  return {
    opened: promise,
    open: () => {
      resolve(undefined);
    },
  };
}
