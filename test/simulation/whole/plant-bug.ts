import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** A change of one text of the product's source. */
export interface SourceEdit {
  /** From the root of the repository. */
  readonly file: string;
  /** Stands in the file exactly once. */
  readonly text: string;
  readonly becomes: string;
}

/** A fault of the product, made by changes of its source as it is loaded. */
export interface PlantedBug {
  /** What the program does wrong. */
  readonly fault: string;
  readonly edits: readonly SourceEdit[];
}

/** A planted bug that the simulation finds. */
export interface FoundBug extends PlantedBug {
  /** It is found within `seeds` seeds from this one on. */
  readonly first: number;
  readonly seeds: number;
  /** Any of these rules finds it. */
  readonly rules: readonly string[];
}

/** A planted bug that no client, fault or rule of the simulation shows yet. */
export interface HiddenBug extends PlantedBug {
  /** What the simulation lacks to find it. */
  readonly missing: string;
}

const ROOT = path.resolve(import.meta.dirname, '../../..');

/** Reports what is wrong with an edit: its text does not stand in the source exactly once. Undefined: nothing is. */
export function findEditFault({ file, text }: SourceEdit, source: string): string | undefined {
  const times = source.split(text).length - 1;
  return times === 1 ? undefined : `${file}: the text stands in it ${times} times, must be once: ${text}`;
}

/** Reads the source that an edit is for. */
export function readSource({ file }: SourceEdit): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

/**
 * Plants a bug into the modules that are loaded from now on. Returns a check that all of its files were loaded: a bug in
 * a file that the program does not use, or had loaded before, is no bug.
 */
export function plantBug({ edits }: PlantedBug): () => void {
  const byUrl = Map.groupBy(edits, ({ file }) => pathToFileURL(path.join(ROOT, file)).href);
  const waiting = new Set(byUrl.keys());
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context);
      const own = byUrl.get(url);
      if (own === undefined) return loaded;
      waiting.delete(url);
      return { ...loaded, source: own.reduce(applyEdit, toText(loaded.source)) };
    },
  });
  return () => {
    if (waiting.size > 0) throw new Error(`the program does not load ${[...waiting].join(', ')}`);
  };
}

function applyEdit(source: string, edit: SourceEdit): string {
  const fault = findEditFault(edit, source);
  if (fault !== undefined) throw new Error(fault);
  return source.replace(edit.text, () => edit.becomes);
}

function toText(source: string | ArrayBuffer | NodeJS.TypedArray | undefined): string {
  if (source === undefined) throw new Error('the source of a module cannot be read');
  return typeof source === 'string' ? source : Buffer.from(source as Uint8Array).toString('utf8');
}
