/*
 * The code inside a sandbox that drives an adapter. It takes and gives JSON texts alone. What the adapter changes about
 * the language reaches no further than its own sandbox, so nothing here has to hold against the adapter.
 */

/** Generators that the service has given up are forgotten beyond this number, the oldest first. */
const OPEN_STEPS_MAX = 1024;
/** The most options with calls that an adapter has at once. */
const OPEN_CALLS_MAX = 64;

/** Every global that a sandbox has. Whatever else a version of the engine may bring is removed. */
const GLOBALS: readonly string[] = [
  ...['AggregateError', 'Array', 'ArrayBuffer', 'BigInt', 'BigInt64Array', 'BigUint64Array', 'Boolean'],
  ...['DataView', 'Date', 'Error', 'EvalError', 'Float32Array', 'Float64Array', 'Infinity', 'Int16Array'],
  ...['Int32Array', 'Int8Array', 'Iterator', 'JSON', 'Map', 'Math', 'NaN', 'Number', 'Object', 'RangeError'],
  ...['ReferenceError', 'Reflect', 'RegExp', 'Set', 'String', 'Symbol', 'SyntaxError', 'TypeError', 'URIError'],
  ...['Uint16Array', 'Uint32Array', 'Uint8Array', 'Uint8ClampedArray', 'WeakMap', 'WeakSet', 'decodeURI'],
  ...['decodeURIComponent', 'encodeURI', 'encodeURIComponent', 'escape', 'globalThis', 'isFinite', 'isNaN'],
  ...['parseFloat', 'parseInt', 'undefined', 'unescape', 'Proxy'],
];

/** Removes everything that no pure adapter needs, the clock and chance among it. */
export const PRUNE_SOURCE = `
{
  const kept = new Set(${JSON.stringify(GLOBALS)});
  for (const name of Object.getOwnPropertyNames(globalThis)) if (!kept.has(name)) delete globalThis[name];
  delete Math.random;
  const Clock = Date;
  const refuse = () => { throw new TypeError('an adapter has no clock'); };
  globalThis.Date = new Proxy(Clock, {
    apply: refuse,
    construct: (target, args, made) => (args.length === 0 ? refuse() : Reflect.construct(target, args, made)),
  });
  delete Clock.now;
  Clock.prototype.constructor = globalThis.Date;
}
`;

/** The text of a function of `(make, kit)` that returns the driver: a function from a JSON text to a JSON text. */
export const DRIVER_SOURCE = `((make, kit) => {
  'use strict';
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const [opened, running] = [new Map(), new Map()];
  const adapter = make(kit);
  const openCalls = (options) => {
    const key = stringify(options);
    if (!opened.has(key)) {
      if (opened.size >= ${OPEN_CALLS_MAX}) opened.clear();
      opened.set(key, adapter.openCalls({ options }));
    }
    return opened.get(key);
  };
  const toTurn = (steps, { done, value }) => {
    if (done) running.delete(steps);
    return { done: done === true, value };
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
    start: ({ options, name, args, steps }) => {
      const calls = openCalls(options);
      const made = apply(calls[name], calls, args);
      if (running.size >= ${OPEN_STEPS_MAX}) running.delete(running.keys().next().value);
      running.set(steps, made);
      return toTurn(steps, made.next());
    },
    resume: ({ steps, answer }) => {
      if (!running.has(steps)) throw new Error('the operation was given up');
      return toTurn(steps, running.get(steps).next(answer));
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

/** The text of a function that describes anything that was thrown: a JSON text of its message and its stack. */
export const DESCRIBE_SOURCE = `(({ stringify }, toText) => (thrown) => {
  try {
    return stringify({ message: toText(thrown), stack: toText(thrown?.stack) });
  } catch {
    return '{}';
  }
})(JSON, String)`;
