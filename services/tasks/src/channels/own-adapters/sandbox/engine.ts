import variant from '@jitl/quickjs-wasmfile-release-sync';
import { newQuickJSWASMModuleFromVariant } from 'quickjs-emscripten-core';
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, VmCallResult } from 'quickjs-emscripten-core';
import { DESCRIBE_SOURCE, DRIVER_SOURCE, PRUNE_SOURCE } from './driver-source.ts';
import { LOAD_MS_MAX, MEMORY_BYTES_MAX, allowFor } from './sandbox-bounds.ts';

/** The types of the package describe its CommonJS form. */
const QUICKJS = variant as unknown as Parameters<typeof newQuickJSWASMModuleFromVariant>[0];
/** Far below the stack that the engine has, so that a deep recursion ends as an exception. */
const STACK_BYTES_MAX = 256 * 1024;
const REASON_CHARS_MAX = 4096;
const IMPORTS = 'an adapter imports types only (`import type`); everything of kit.ts is in the argument `kit`';
const KIT = 'adapter-kit';

/** JavaScript for the engine. The names of the kit's modules are those by which they import each other. */
export interface EngineSources {
  readonly kit: Readonly<Record<string, string>>;
  readonly file: string;
  readonly code: string;
}

export interface Engine {
  /** Returns the answer of the driver. Throws an `EngineFault` if there is no answer. */
  drive(text: string): string;
  /** The memory that the engine holds. It never gets less. */
  heldBytes(): number;
}

/** The reason why code has no result, and the line of its file. */
export class EngineFault extends Error {
  override readonly name = 'EngineFault';
  readonly line: number;

  constructor(reason: string, line = 1) {
    super(reason.slice(0, REASON_CHARS_MAX));
    this.line = line;
  }
}

/**
 * Creates an engine for one adapter: QuickJS as WebAssembly. Code in it reaches the language, the kit, and the memory
 * of the engine. Its only function of ours is the loader of modules, which at first knows the kit, and then no module.
 */
export async function createEngine({ kit, file, code }: EngineSources): Promise<Engine> {
  const quickjs = await newQuickJSWASMModuleFromVariant(QUICKJS);
  const runtime = quickjs.newRuntime();
  runtime.setMaxStackSize(STACK_BYTES_MAX);
  runtime.setMemoryLimit(MEMORY_BYTES_MAX);
  const inside = createInside(runtime, file);
  const loaded = inside.within(LOAD_MS_MAX, () => loadDriver(inside, runtime, { kit, file, code }));
  return {
    drive: (text) => {
      const { ms, bytes, answerChars } = allowFor(text.length);
      runtime.setMemoryLimit(bytes);
      return inside.within(ms, () => callDriver(inside, loaded, text, answerChars));
    },
    heldBytes: () => (quickjs.getWasmMemory() as { readonly buffer: ArrayBuffer }).buffer.byteLength,
  };
}

/** A context that turns faults and lateness into exceptions. */
interface Inside {
  readonly context: QuickJSContext;
  /** Runs code. What computes in it for more processor time than allowed is stopped. */
  readonly within: <T>(ms: number, act: () => T) => T;
  /** Returns the result. Throws an `EngineFault` if there is an error in its place. */
  readonly take: (result: VmCallResult<QuickJSHandle>) => QuickJSHandle;
  readonly evaluate: (code: string, name: string, type: 'global' | 'module') => QuickJSHandle;
}

function createInside(runtime: QuickJSRuntime, file: string): Inside {
  const context = runtime.newContext();
  let [used, allowed, isLate] = [process.threadCpuUsage(), Infinity, false];
  // other work on a busy machine does not consume this processor time
  const isOver = (): boolean => {
    const { user, system } = process.threadCpuUsage(used);
    return (user + system) / 1000 >= allowed;
  };
  runtime.setInterruptHandler(() => (isLate ||= isOver()));
  const describe = context.unwrapResult(context.evalCode(DESCRIBE_SOURCE, 'describe-thrown', { type: 'global' }));
  const toFault = (thrown: QuickJSHandle): EngineFault => {
    if (isLate) return new EngineFault(`computes for more than ${allowed} ms of processor time`);
    const result = context.callFunction(describe, context.undefined, thrown);
    const handle = result.error ?? result.value;
    const text = result.error === undefined && context.typeof(handle) === 'string' ? context.getString(handle) : '{}';
    handle.dispose();
    if (isLate) return new EngineFault(`computes for more than ${allowed} ms of processor time`);
    const { message, stack } = JSON.parse(text) as { readonly message?: string; readonly stack?: string };
    return new EngineFault(message === undefined ? 'throws' : `throws ${message}`, findLine(file, stack ?? ''));
  };
  const take: Inside['take'] = (result) => {
    if (result.error === undefined) return result.value;
    const fault = toFault(result.error);
    result.error.dispose();
    throw fault;
  };
  return {
    context,
    take,
    within: (ms, act) => {
      [used, allowed, isLate] = [process.threadCpuUsage(), ms, false];
      return act();
    },
    evaluate: (code, name, type) => take(context.evalCode(code, name, { type, strict: true })),
  };
}

/** The first line of the file in the stack of an error; 1 if the stack does not name it. */
function findLine(file: string, stack: string): number {
  const [, after = ''] = stack.split(`${file}:`);
  return Number.parseInt(after, 10) || 1;
}

/** Loads the kit, prunes the globals, and loads the adapter, in this order. Returns the function that drives it. */
function loadDriver(inside: Inside, runtime: QuickJSRuntime, { kit, file, code }: EngineSources): QuickJSHandle {
  const { context, take, evaluate } = inside;
  runtime.setModuleLoader((name) => kit[name] ?? { error: new Error(`the kit has no ${name}`) });
  const exported = Object.keys(kit).map((name) => `export * from '${name}';`);
  const kitValue = finishModule(inside, evaluate(exported.join('\n'), KIT, 'module'));
  evaluate(PRUNE_SOURCE, 'prune-globals', 'global').dispose();
  runtime.setModuleLoader((name) => ({ error: new Error(`${name}: ${IMPORTS}`) }));
  const exports = finishModule(inside, evaluate(code, file, 'module'));
  const make = readDefault(inside, exports);
  const open = evaluate(DRIVER_SOURCE, 'drive-adapter', 'global');
  return take(context.callFunction(open, context.undefined, make, kitValue));
}

/** A module that waits for something never goes on: no job of the engine is ever run. */
function finishModule({ context, take }: Inside, evaluated: QuickJSHandle): QuickJSHandle {
  const state = context.getPromiseState(evaluated);
  if (state.type === 'fulfilled') return state.value;
  if (state.type === 'rejected') return take({ error: state.error });
  evaluated.dispose();
  throw new EngineFault('an adapter waits for nothing: an operation is a generator that yields requests');
}

/** The export of a module is no code of its own. */
function readDefault({ context }: Inside, exports: QuickJSHandle): QuickJSHandle {
  const make = context.getProp(exports, 'default');
  if (context.typeof(make) === 'function') return make;
  throw new EngineFault('`export default (kit) => adapter` is missing');
}

function callDriver({ context, take }: Inside, driver: QuickJSHandle, text: string, charsMax: number): string {
  const asked = context.newString(text);
  const answer = take(context.callFunction(driver, context.undefined, asked));
  asked.dispose();
  try {
    if (context.typeof(answer) !== 'string') throw new EngineFault('the adapter has no answer');
    // the memory of the engine bounds the copied text
    const said = context.getString(answer);
    if (said.length > charsMax) throw new EngineFault(`has an answer of more than ${charsMax} characters`);
    return said;
  } finally {
    answer.dispose();
  }
}
