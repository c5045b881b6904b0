import { readFileSync } from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';
import { DRIVER_SOURCE, PRUNE_SOURCE } from './driver-source.ts';
import { OwnAdapterFault } from './own-adapter-fault.ts';
import { DEFAULT_EXPORT, stripAdapter, stripTypes } from './strip-adapter.ts';

/** An operation that computes for longer ends as one that failed. */
const COMPUTE_MS_MAX = 1000;
const KIT = path.join(import.meta.dirname, '../../../adapter-kit');
/** The kit has the ending of this file: the image holds JavaScript. */
const ENDING = path.extname(import.meta.filename);
const KIT_FILES: readonly string[] = [`kit${ENDING}`, `v2-usage${ENDING}`];
const KIT_IMPORT = /^import \{[^}]*\} from '\.\/kit\.[jt]s';$/gm;
const KIT_EXPORT = /^export (?=(?:function\*? |const )(\w+))/gm;
const DRIVE = new vm.Script('globalThis.__drive__(globalThis.__asked__)', { filename: 'drive-adapter' });

/** An adapter in a context of its own. Only JSON texts cross its border. */
export interface AdapterContext {
  /** Returns the answer of the driver. Throws if the adapter throws, or computes for too long. */
  ask(asked: object): Readonly<Record<string, unknown>>;
}

/** Evaluates the text of an adapter in a context that has the language, the kit, and nothing else. */
export function openAdapterContext(file: string, text: string): AdapterContext {
  const statements = stripAdapter(file, text);
  const inside = vm.createContext(vm.constants.DONT_CONTEXTIFY, {
    name: file,
    codeGeneration: { strings: false, wasm: false },
  }) as Record<string, unknown>;
  const evaluate = (code: string, filename: string): unknown =>
    new vm.Script(code, { filename }).runInContext(inside, { timeout: COMPUTE_MS_MAX });
  evaluate(PRUNE_SOURCE, 'prune-adapter');
  evaluate(buildKit(), 'adapter-kit');
  evaluateAdapter(file, statements, evaluate);
  return {
    ask: (asked) => {
      inside['__asked__'] = JSON.stringify(asked);
      return readAnswer(runDriver(inside));
    },
  };
}

function evaluateAdapter(
  file: string,
  statements: string,
  evaluate: (code: string, filename: string) => unknown,
): void {
  const wrapped = `globalThis.__make__ = (() => { 'use strict'; let ${DEFAULT_EXPORT}; ${statements}
    return ${DEFAULT_EXPORT}; })();`;
  try {
    evaluate(wrapped, file);
    evaluate(`globalThis.__drive__ = ${DRIVER_SOURCE}(globalThis.__make__, globalThis.__kit__);`, 'drive-adapter');
  } catch (error) {
    throw new OwnAdapterFault(file, findLine(file, error), describeThrown(error));
  }
}

/** The kit, from its own source: what it exports, as one frozen object. */
function buildKit(): string {
  const sources = KIT_FILES.map((name) =>
    stripTypes(name, readFileSync(path.join(KIT, name), 'utf8')).replaceAll(KIT_IMPORT, ''),
  );
  const names = sources.flatMap((source) => [...source.matchAll(KIT_EXPORT)].map(([, name]) => name));
  const code = sources.map((source) => source.replaceAll(KIT_EXPORT, '')).join('\n');
  return `globalThis.__kit__ = (() => { 'use strict'; ${code}\nreturn Object.freeze({ ${names.join(', ')} }); })();`;
}

function runDriver(inside: object): unknown {
  try {
    return DRIVE.runInContext(inside, { timeout: COMPUTE_MS_MAX });
  } catch (error) {
    throw new Error(describeThrown(error));
  }
}

function readAnswer(answer: unknown): Readonly<Record<string, unknown>> {
  if (typeof answer !== 'string') throw new Error('the adapter has no answer');
  const read = JSON.parse(answer) as Readonly<Record<string, unknown>>;
  const { thrown } = read;
  if (typeof thrown === 'string') throw new Error(thrown);
  return read;
}

/** Describes what a context threw. It may be any value, with code of the adapter in its members. */
function describeThrown(error: unknown): string {
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
    return `computes for more than ${COMPUTE_MS_MAX} ms`;
  try {
    return `throws ${vm.runInNewContext('String(error)', { error }, { timeout: COMPUTE_MS_MAX }) as string}`;
  } catch {
    return 'throws';
  }
}

/** The first line of the file in the stack of an error; 1 if the stack does not name it. */
function findLine(file: string, error: unknown): number {
  const stack: unknown = (error as { readonly stack?: unknown } | undefined)?.stack;
  const [, after = ''] = typeof stack === 'string' ? stack.split(`${file}:`) : [];
  return Number.parseInt(after, 10) || 1;
}
