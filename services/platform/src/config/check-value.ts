import { Ajv } from '../json-schema.ts';
import type { ErrorObject, ValidateFunction } from '../json-schema.ts';
import { isNetwork } from '../source-address.ts';
import { ConfigError } from './config-document.ts';
import type { Keys } from './config-locations.ts';
import { describeFormat, parseBytes, parseDuration, parseHostPort } from './units.ts';

const NUMBER_OR_FLAG = /^(-?(0|[1-9]\d*)(\.\d+)?|true|false)$/;
const DECIMAL = /^(0|[1-9]\d{0,11})(\.\d{1,9})?$/;

/** A check reports no more refused settings than this. */
const FAULTS_MAX = 20;

/** Makes an error at a key. */
export type NewFault = (keys: Keys, expected: string) => ConfigError;

/**
 * Fills in defaults. A string from a variable becomes the number or boolean that the schema wants, if it can be read as
 * one. Throws one `ConfigError` that names each refused setting.
 */
export function checkValue(
  value: unknown,
  schema: object,
  fault: NewFault,
  hasVariable: (keys: Keys) => boolean,
): void {
  const check = compileOnce(schema);
  // each round converts at least one string
  while (!check(value)) {
    const errors = check.errors ?? [];
    if (errors.filter((error) => convertText(value, error, hasVariable)).length > 0) continue;
    const causes = listCauses(errors).slice(0, FAULTS_MAX);
    throw new ConfigError(...causes.map((error) => toConfigError(error, fault).message));
  }
}

/**
 * Returns one error for each key that is missing or unknown, and for each value that is wrong. A value that may be of
 * several kinds has the faults of each kind: the first of them stands for all.
 */
function listCauses(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const causes: ErrorObject[] = [];
  for (const error of errors.filter(({ keyword }) => keyword !== 'if')) {
    const first = error.keyword === 'anyOf' ? causes.findIndex((cause) => isWithin(cause, error)) : -1;
    if (first !== -1) causes.splice(first + 1);
    else if (OF_KEYS.has(error.keyword) || !causes.some((cause) => isOfSameValue(cause, error))) causes.push(error);
  }
  return causes;
}

const OF_KEYS: ReadonlySet<string> = new Set(['required', 'additionalProperties']);

function isOfSameValue(cause: ErrorObject, { instancePath }: ErrorObject): boolean {
  return cause.instancePath === instancePath && !OF_KEYS.has(cause.keyword);
}

function isWithin({ instancePath }: ErrorObject, outer: ErrorObject): boolean {
  return `${instancePath}/`.startsWith(`${outer.instancePath}/`);
}

/** A reload checks with the schema of the start, so the last compiled schemas are kept, by their texts. */
const compiled = new Map<string, ValidateFunction>();
const COMPILED_MAX = 2;

function compileOnce(schema: object): ValidateFunction {
  const text = JSON.stringify(schema);
  const check = compiled.get(text) ?? compile(schema);
  compiled.delete(text);
  compiled.set(text, check);
  for (const oldest of compiled.keys()) if (compiled.size > COMPILED_MAX) compiled.delete(oldest);
  return check;
}

function compile(schema: object): ValidateFunction {
  return new Ajv({
    allErrors: true,
    verbose: true,
    useDefaults: true,
    allowUnionTypes: true,
    strict: true,
    strictTypes: false,
    formats: FORMATS,
    keywords: ['about', 'absent', { keyword: 'range', type: 'string', validate: isInRange, errors: false }],
    // The schemas are ours, and their tests check that they are schemas: at each start that would take longer than the
    // check of the value.
    meta: false,
    validateSchema: false,
    // A check runs a few times. To make it faster would take longer than it runs.
    code: { optimize: false },
  }).compile(schema);
}

type Schema = Readonly<Record<string, unknown>>;

interface Range {
  readonly min?: string;
  readonly max?: string;
}

/** A range has bounds of the format of the value. */
function isInRange({ min, max }: Range, value: string, { format }: Schema = {}): boolean {
  const parse = (text: string): number => (format === 'bytes' ? parseBytes(text) : parseDuration(text)) ?? 0;
  return (min === undefined || parse(value) >= parse(min)) && (max === undefined || parse(value) <= parse(max));
}

function convertText(value: unknown, error: ErrorObject, hasVariable: (keys: Keys) => boolean): boolean {
  if (error.keyword !== 'type' || typeof error.data !== 'string' || !NUMBER_OR_FLAG.test(error.data)) return false;
  const keys = parseKeys(error);
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
  network: isNetwork,
  'host-port': (text: string) => parseHostPort(text) !== undefined,
  decimal: (text: string) => DECIMAL.test(text),
};

function toConfigError(error: ErrorObject, fault: NewFault): ConfigError {
  const keys = parseKeys(error);
  const params = error.params as Readonly<Record<string, unknown>>;
  const [wrong, expected] = (EXPECTED[error.keyword] ?? describeOtherFault)(error, params);
  return fault(wrong === undefined ? keys : [...keys, wrong], expected);
}

function parseKeys({ instancePath }: ErrorObject): (string | number)[] {
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
    `the key ${String(params['missingProperty'])} is missing${readDescription(error, '; expected ')}`,
  ],
  format: (_error, params) => [undefined, `expected ${describeFormat(params['format']) ?? String(params['format'])}`],
  range: (error) => [undefined, `expected ${readDescription(error)}`],
  enum: (error, params) => [
    undefined,
    `expected ${readDescription(error) || `one of: ${(params['allowedValues'] as unknown[]).join(', ')}`}`,
  ],
};

/** The schema's description of the location after these words, or an empty string. */
function readDescription({ parentSchema }: ErrorObject, before = ''): string {
  const { description } = (parentSchema ?? {}) as { readonly description?: string };
  return description === undefined ? '' : before + description;
}

function describeOtherFault(error: ErrorObject): [undefined, string] {
  const { description, format, properties } = (error.parentSchema ?? {}) as {
    readonly description?: string;
    readonly format?: string;
    readonly properties?: object;
  };
  const keys = properties === undefined ? undefined : `a section with ${Object.keys(properties).join(', ')}`;
  const hint = description ?? describeFormat(format) ?? keys;
  const message = error.message ?? 'is wrong';
  return [undefined, hint === undefined ? message : `expected ${hint} (${message})`];
}
