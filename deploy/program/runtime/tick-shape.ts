import { executionAsyncResource } from 'node:async_hooks';

const kept: object[] = [];

/**
 * Keeps one object of `process.nextTick` for as long as the process lives. Without it, a collection of the whole heap
 * at a moment without waiting ticks drops the hidden class of these objects. From then on V8 allocates each one by
 * calls of its runtime, and never optimizes that again: 0.45 µs instead of 0.06, and an answer over HTTP takes about
 * ten ticks.
 */
export function keepTickShape(): Promise<object> {
  return new Promise((resolve) =>
    process.nextTick(() => {
      const tick = executionAsyncResource();
      kept.push(tick);
      resolve(tick);
    }),
  );
}
