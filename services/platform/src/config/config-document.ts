import { LineCounter, isPair, isSeq, parseDocument, visit } from 'yaml';
import type { Document, Node } from 'yaml';
import { findLine, findNodes } from './config-locations.ts';
import type { Keys } from './config-locations.ts';

/** Names the file, line and key that is wrong, and what is expected there. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  /** A line for each refused setting: file, line, key and what would be right. */
  readonly refused: readonly string[];

  constructor(...refused: readonly string[]) {
    super(refused.join('\n'));
    this.refused = refused;
  }
}

/** `${NAME}`, `${NAME:-default}` and `${file:/path}`. */
const VARIABLE = /\$\{(?:file:([^}\n]+)|([A-Za-z_][A-Za-z0-9_]*)(?::-([^}\n]*))?)\}/g;
const MARK = /__variable_(\d+)__/g;

/** One file of the configuration, with its variables replaced. */
export interface ConfigDocument {
  readonly file: string;
  /** Without empty values: an absent key, an empty value and a default are the same. */
  readonly value: Readonly<Record<string, unknown>>;
  /** The line of the deepest part of the path that exists. */
  findLine(keys: Keys): number;
  /** Returns the number of keys of the path that exist. */
  countExisting(keys: Keys): number;
  /** Reports whether a part of the text at the path came from a variable. */
  hasVariable(keys: Keys): boolean;
}

/** The sources of the values of variables. */
export interface Variables {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Throws an Error that says what is wrong and expected. */
  readonly readFile: (file: string) => string;
}

export function parseConfigDocument(file: string, text: string, from: Variables): ConfigDocument {
  const lines = new LineCounter();
  const variables: Variable[] = [];
  const document = parseDocument(markVariables(text, variables), { lineCounter: lines, prettyErrors: false });
  const [broken] = document.errors;
  if (broken !== undefined)
    throw new ConfigError(`${file}:${lines.linePos(broken.pos[0]).line}: not YAML: ${broken.message}`);
  const substituted = substitute(document, variables, (variable, node, keys) => {
    const at = `${file}:${lines.linePos(node.range?.[0] ?? 0).line}: `;
    return resolveVariable(variable, from, (wrong) => new ConfigError(at + wrong), keys);
  });
  const value = removeEmpty(toPlainValue(document, file)) ?? {};
  if (!isSection(value)) throw new ConfigError(`${file}:1: the file: must be object`);
  return {
    file,
    value,
    findLine: (keys) => findLine(document, lines, keys),
    countExisting: (keys) => findNodes(document, keys).length,
    hasVariable: (keys) => {
      const nodes = findNodes(document, keys);
      return nodes.length === keys.length && substituted.has(nodes.at(-1)?.value);
    },
  };
}

export function isSection(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface Variable {
  /** The path of a file, or undefined. */
  readonly path: string | undefined;
  readonly name: string;
  readonly fallback: string | undefined;
}

/** Replaces each variable by a mark, because braces have a meaning in YAML. */
function markVariables(text: string, into: Variable[]): string {
  return text.replace(
    VARIABLE,
    (_whole, path: string | undefined, name: string | undefined, fallback: string | undefined) =>
      `__variable_${into.push({ path, name: name ?? '', fallback }) - 1}__`,
  );
}

function resolveVariable(
  { path, name, fallback }: Variable,
  { environment, readFile }: Variables,
  fault: (wrong: string) => ConfigError,
  keys: Keys,
): string {
  if (path !== undefined) {
    try {
      return readFile(path);
    } catch (error) {
      throw fault(`${keys.join('.')}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const set = environment[name];
  if (set !== undefined && set !== '') return set;
  if (fallback === undefined) throw fault(`\${${name}} is not set; set it, or give a default as \${${name}:-…}`);
  return fallback;
}

/** Gives the scalars that contained a variable. */
function substitute(
  document: Document,
  variables: readonly Variable[],
  textFor: (variable: Variable, node: Node, keys: Keys) => string,
): Set<unknown> {
  const substituted = new Set<unknown>();
  visit(document, {
    Scalar: (_key, node, ancestors) => {
      if (typeof node.value !== 'string') return;
      node.value = node.value.replace(MARK, (whole, index: string) => {
        const variable = variables[Number(index)];
        if (variable === undefined) return whole;
        substituted.add(node);
        return textFor(variable, node, collectKeys([...ancestors, node]));
      });
    },
  });
  return substituted;
}

function collectKeys(nodes: readonly unknown[]): Keys {
  return nodes.flatMap((node, at): (string | number)[] => {
    if (isPair(node)) return [String(node.key)];
    return isSeq(node) ? [node.items.indexOf(nodes[at + 1])] : [];
  });
}

function toPlainValue(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // an alias without its anchor, or with too large an expansion
    throw new ConfigError(`${file}: not YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Removes null and empty strings. */
function removeEmpty(value: unknown): unknown {
  if (value === null || value === '') return undefined;
  if (Array.isArray(value)) return value.map(removeEmpty).filter((item) => item !== undefined);
  if (typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, inner]) => [name, removeEmpty(inner)] as const)
      .filter(([, inner]) => inner !== undefined),
  );
}
