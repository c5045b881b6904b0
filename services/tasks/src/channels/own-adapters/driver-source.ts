/*
 * The code that drives an adapter inside its context. It takes and gives JSON texts alone. It keeps the functions of
 * JSON that it began with, so an adapter that changes them changes nothing here.
 */

/** Generators that the service has given up are forgotten beyond this number, the oldest first. */
const OPEN_STEPS_MAX = 1024;
/** The most options whose calls an adapter has at once. */
const OPEN_CALLS_MAX = 64;

/** Removes what a pure adapter has no use for: the clock, chance, waits, and the console of the debugger. */
export const PRUNE_SOURCE = `
for (const name of ['console', 'WebAssembly', 'Promise', 'SharedArrayBuffer', 'Atomics', 'WeakRef',
  'FinalizationRegistry']) delete globalThis[name];
delete Math.random;
delete Date.now;
`;

/** The text of a function of `(make, kit)` that returns the driver: a function from a JSON text to a JSON text. */
export const DRIVER_SOURCE = `((make, kit) => {
  'use strict';
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const [opened, running] = [new Map(), new Map()];
  const adapter = make(kit);
  let newest = 0;
  const openCalls = (options) => {
    const key = stringify(options);
    if (!opened.has(key)) {
      if (opened.size >= ${OPEN_CALLS_MAX}) opened.clear();
      opened.set(key, adapter.openCalls({ options }));
    }
    return opened.get(key);
  };
  const toTurn = (id, { done, value }) => {
    if (done) running.delete(id);
    return { id, done: done === true, value };
  };
  const acts = {
    describe: () => ({
      value: { ...adapter, callbacks: adapter.callbacks && { signature: adapter.callbacks.signature } },
      hasOpenCalls: typeof adapter.openCalls === 'function',
      hasReadId: typeof adapter.callbacks?.readId === 'function',
    }),
    list: ({ options }) => {
      const calls = openCalls(options);
      return { value: Object.keys(calls).filter((name) => typeof calls[name] === 'function') };
    },
    readId: ({ args }) => ({ value: apply(adapter.callbacks.readId, adapter.callbacks, args) }),
    compute: ({ options, name, args }) => {
      const calls = openCalls(options);
      return { value: apply(calls[name], calls, args) };
    },
    start: ({ options, name, args }) => {
      const calls = openCalls(options);
      const steps = apply(calls[name], calls, args);
      if (running.size >= ${OPEN_STEPS_MAX}) running.delete(running.keys().next().value);
      running.set((newest += 1), steps);
      return toTurn(newest, steps.next());
    },
    resume: ({ id, answer }) => {
      if (!running.has(id)) throw new Error('the operation was given up');
      return toTurn(id, running.get(id).next(answer));
    },
  };
  return (text) => {
    try {
      const asked = parse(text);
      return stringify(acts[asked.act](asked));
    } catch (error) {
      return stringify({ thrown: String(error) });
    }
  };
})`;
