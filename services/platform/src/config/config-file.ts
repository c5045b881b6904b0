import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import type { ErrorObject } from 'ajv';
import { LineCounter, parseDocument, visit } from 'yaml';
import type { Document, Node } from 'yaml';
import { lineOf, nodesOf } from './config-locations.ts';
import type { Keys } from './config-locations.ts';
import { parseBytes, parseDuration, parseHostPort } from './units.ts';

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}\n]*))?\}/g;
const MARK = /__variable_(\d+)__/g;
const NUMBER_OR_FLAG = /^(-?(0|[1-9]\d*)(\.\d+)?|true|false)$/;
const DECIMAL = /^(0|[1-9]\d{0,11})(\.\d{1,9})?$/;

/** Names the file, line and key that is wrong, and what is expected there. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export interface ConfigFile {
  readonly file: string;
  /** The checked value, with defaults and without empty values. */
  readonly value: unknown;
  /** Makes an error at a key, for faults that a schema cannot express. */
  fault(keys: Keys, expected: string): ConfigError;
}

/**
 * Reads a YAML file, replaces `${NAME}` and `${NAME:-default}` by the environment, and checks the value against a JSON
 * Schema with these formats: duration, bytes, host-port, decimal. An empty value is the same as an absent key. A
 * variable is a string, or a number or a boolean if the schema wants one.
 */
export function readConfigFile(
  file: string,
  schema: object,
  environment: Readonly<Record<string, string | undefined>>,
): ConfigFile {
  const lines = new LineCounter();
  const variables: Variable[] = [];
  const document = parseDocument(markVariables(textOf(file), variables), { lineCounter: lines, prettyErrors: false });
  const [broken] = document.errors;
  if (broken !== undefined)
    throw new ConfigError(`${file}:${String(lines.linePos(broken.pos[0]).line)}: not YAML: ${broken.message}`);

  const fault = (keys: Keys, expected: string): ConfigError =>
    new ConfigError(
      `${file}:${String(lineOf(document, lines, keys))}: ` +
        `${keys.length === 0 ? 'the file' : keys.join('.')}: ${expected}`,
    );
  const missing = (node: Node, name: string): ConfigError =>
    new ConfigError(
      `${file}:${String(lines.linePos(node.range?.[0] ?? 0).line)}: ` +
        `\${${name}} is not set; set it, or give a default as \${${name}:-…}`,
    );
  const substituted = substitute(document, variables, (node, { name, fallback }) => {
    const set = environment[name];
    if (set !== undefined && set !== '') return set;
    if (fallback === undefined) throw missing(node, name);
    return fallback;
  });
  const value = withoutEmpty(valueOf(document, file)) ?? {};
  checkValue(value, schema, fault, (keys) => substituted.has(nodesOf(document, keys)[keys.length - 1]?.value));
  return { file: path.resolve(file), value, fault };
}

interface Variable {
  readonly name: string;
  readonly fallback: string | undefined;
}

/** Replaces each variable by a mark, because braces have a meaning in YAML. */
function markVariables(text: string, into: Variable[]): string {
  return text.replace(
    VARIABLE,
    (_whole, name: string, fallback: string | undefined) => `__variable_${String(into.push({ name, fallback }) - 1)}__`,
  );
}

/**
 * Fills in defaults. A string from a variable becomes the number or boolean that the schema wants, if it can be read as
 * one.
 */
function checkValue(
  value: unknown,
  schema: object,
  fault: ConfigFile['fault'],
  hasVariable: (keys: Keys) => boolean,
): void {
  const check = new Ajv({
    allErrors: false,
    verbose: true,
    useDefaults: true,
    allowUnionTypes: true,
    strict: true,
    strictTypes: false,
    formats: FORMATS,
  }).compile(schema);
  // each round converts one string
  while (!check(value)) {
    const [error] = check.errors ?? [];
    if (error === undefined || !readAsWanted(value, error, hasVariable))
      throw error === undefined ? fault([], 'is wrong') : faultOf(error, fault);
  }
}

function readAsWanted(value: unknown, error: ErrorObject, hasVariable: (keys: Keys) => boolean): boolean {
  if (error.keyword !== 'type' || typeof error.data !== 'string' || !NUMBER_OR_FLAG.test(error.data)) return false;
  const keys = keysOf(error);
  if (!hasVariable(keys)) return false;
  const last = keys.at(-1);
  let holder = value as Record<string | number, unknown>;
  for (const key of keys.slice(0, -1)) holder = holder[key] as Record<string | number, unknown>;
  if (last === undefined) return false;
  holder[last] = JSON.parse(error.data) as unknown;
  return true;
}

const FORMATS = {
  duration: (text: string) => parseDuration(text) !== undefined,
  bytes: (text: string) => parseBytes(text) !== undefined,
  'host-port': (text: string) => parseHostPort(text) !== undefined,
  decimal: (text: string) => DECIMAL.test(text),
};

const FORMAT_WORDS: Readonly<Record<string, string>> = {
  duration: 'a duration such as 200ms, 3s, 30m or 7d',
  bytes: 'a size such as 512KiB, 64MiB or 2GiB',
  'host-port': 'an address such as 127.0.0.1:8080',
  decimal: 'a decimal in quotes such as "0.08", with at most nine places',
};

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError(
      `${file}: cannot be read (${error instanceof Error ? error.message : String(error)}); ` +
        `name the file in REELGATE_CONFIG`,
    );
  }
}

/** Gives the scalars that contained a variable. */
function substitute(
  document: Document,
  variables: readonly Variable[],
  textFor: (node: Node, variable: Variable) => string,
): Set<unknown> {
  const substituted = new Set<unknown>();
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value !== 'string') return;
      node.value = node.value.replace(MARK, (whole, index: string) => {
        const variable = variables[Number(index)];
        if (variable === undefined) return whole;
        substituted.add(node);
        return textFor(node, variable);
      });
    },
  });
  return substituted;
}

function valueOf(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // an alias without its anchor, or with too large an expansion
    throw new ConfigError(`${file}: not YAML: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Removes null and empty strings: an absent key, an empty value and a default are the same. */
function withoutEmpty(value: unknown): unknown {
  if (value === null || value === '') return undefined;
  if (Array.isArray(value)) return value.map(withoutEmpty).filter((item) => item !== undefined);
  if (typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, inner]) => [name, withoutEmpty(inner)] as const)
      .filter(([, inner]) => inner !== undefined),
  );
}

function faultOf(error: ErrorObject, fault: ConfigFile['fault']): ConfigError {
  const keys = keysOf(error);
  const params = error.params as Readonly<Record<string, unknown>>;
  const [wrong, expected] = (EXPECTED[error.keyword] ?? otherwise)(error, params);
  return fault(wrong === undefined ? keys : [...keys, wrong], expected);
}

function keysOf({ instancePath }: ErrorObject): (string | number)[] {
  return instancePath
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((key) => (/^\d+$/.test(key) ? Number(key) : key));
}

/** The meaning of a violated keyword: the key below the location, if any, and what is expected. */
const EXPECTED: Readonly<
  Record<string, (error: ErrorObject, params: Readonly<Record<string, unknown>>) => [string | undefined, string]>
> = {
  additionalProperties: (error, params) => {
    const known = Object.keys((error.parentSchema as { properties?: object } | undefined)?.properties ?? {});
    return [
      String(params['additionalProperty']),
      `no such key${known.length > 0 ? `; expected one of: ${known.join(', ')}` : ''}`,
    ];
  },
  required: (error, params) => [
    undefined,
    `the key ${String(params['missingProperty'])} is missing${described(error, '; expected ')}`,
  ],
  format: (_error, params) => [
    undefined,
    `expected ${FORMAT_WORDS[String(params['format'])] ?? String(params['format'])}`,
  ],
  enum: (error, params) => [
    undefined,
    `expected ${described(error) || `one of: ${(params['allowedValues'] as unknown[]).join(', ')}`}`,
  ],
};

/** The schema's description of the location after these words, or an empty string. */
function described({ parentSchema }: ErrorObject, before = ''): string {
  const { description } = (parentSchema ?? {}) as { readonly description?: string };
  return description === undefined ? '' : before + description;
}

function otherwise(error: ErrorObject): [undefined, string] {
  const { description, format } = (error.parentSchema ?? {}) as {
    readonly description?: string;
    readonly format?: string;
  };
  const hint = description ?? FORMAT_WORDS[format ?? ''];
  const message = error.message ?? 'is wrong';
  return [undefined, hint === undefined ? message : `expected ${hint} (${message})`];
}
