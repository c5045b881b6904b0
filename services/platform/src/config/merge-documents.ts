import { isSection, ConfigError } from './config-document.ts';
import type { ConfigDocument } from './config-document.ts';
import type { Keys } from './config-locations.ts';

/** The lists whose entries merge, each with the key that identifies an entry. */
export type EntryKeys = Readonly<Record<string, string>>;

/** A part of one file. */
export interface Part {
  readonly document: ConfigDocument;
  readonly keys: Keys;
}

export interface MergedDocuments {
  readonly value: unknown;
  /** The file that has the deepest part of the path, and the path in that file. */
  locate(keys: Keys): Part;
}

interface ValuedPart extends Part {
  readonly value: unknown;
}

/**
 * Puts files together. Sections merge by key. The entries of the named lists follow one another, and those with the
 * same id merge by key. Refuses any other value that two files have.
 */
export function mergeDocuments(documents: readonly ConfigDocument[], entryKeys: EntryKeys): MergedDocuments {
  const lists = new Map<string, readonly (readonly ValuedPart[])[]>();
  const merged = groupByKey(documents.map((document) => ({ document, keys: [], value: document.value }))).map(
    ([name, parts]) => {
      const identity = entryKeys[name];
      if (identity === undefined || parts.length < 2 || !parts.every(({ value }) => Array.isArray(value)))
        return [name, merge(parts)];
      const entries = groupEntries(parts, identity);
      lists.set(name, entries);
      return [name, entries.map((entry) => merge(entry, identity))];
    },
  );
  return { value: Object.fromEntries(merged), locate: (keys) => findDeepest(findParts(documents, lists, keys), keys) };
}

function merge(parts: readonly ValuedPart[], identity?: string): unknown {
  const [first, second] = parts;
  if (first === undefined || second === undefined) return first?.value;
  if (!parts.every(({ value }) => isSection(value))) throw setTwice(first, second);
  return Object.fromEntries(
    groupByKey(parts).map(([name, inner]) => [name, name === identity ? inner[0]?.value : merge(inner)]),
  );
}

/** The values under each key of sections, in the order of the files. */
function groupByKey(parts: readonly ValuedPart[]): (readonly [string, readonly ValuedPart[]])[] {
  const byKey = new Map<string, ValuedPart[]>();
  for (const { document, keys, value } of parts)
    for (const [name, inner] of Object.entries(value as object)) {
      const part = { document, keys: [...keys, name], value: inner as unknown };
      byKey.set(name, [...(byKey.get(name) ?? []), part]);
    }
  return [...byKey];
}

/** The parts of each entry. An id that a file has twice stays twice, for the checks of the whole to name. */
function groupEntries(parts: readonly ValuedPart[], identity: string): readonly (readonly ValuedPart[])[] {
  const entries: ValuedPart[][] = [];
  for (const { document, keys, value } of parts)
    for (const [index, item] of (value as readonly unknown[]).entries()) {
      const part = { document, keys: [...keys, index], value: item };
      const id = readId(part, identity);
      const same = entries.find(
        (others) =>
          id !== undefined && readId(others[0], identity) === id && others.every((one) => one.document !== document),
      );
      if (same === undefined) entries.push([part]);
      else same.push(part);
    }
  return entries;
}

function readId(part: ValuedPart | undefined, identity: string): unknown {
  return isSection(part?.value) ? part.value[identity] : undefined;
}

function findParts(
  documents: readonly ConfigDocument[],
  lists: ReadonlyMap<string, readonly (readonly ValuedPart[])[]>,
  keys: Keys,
): readonly Part[] {
  const entry = lists.get(String(keys[0]))?.[Number(keys[1])];
  return (
    entry?.map(({ document, keys: start }) => ({ document, keys: [...start, ...keys.slice(2)] })) ??
    documents.map((document) => ({ document, keys }))
  );
}

function findDeepest(parts: readonly Part[], keys: Keys): Part {
  const [first, ...others] = parts;
  if (first === undefined) throw new Error(`no file for ${keys.join('.')}`);
  const depth = ({ document, keys: within }: Part): number => document.countExisting(within);
  return others.reduce((best, part) => (depth(part) > depth(best) ? part : best), first);
}

function setTwice(first: Part, second: Part): ConfigError {
  const at = ({ document, keys }: Part): string => `${document.file}:${document.findLine(keys)}`;
  return new ConfigError(
    `${at(second)}: ${second.keys.join('.')}: is also set at ${at(first)}; expected it in one of the two`,
  );
}
