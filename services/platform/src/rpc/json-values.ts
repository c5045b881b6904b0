import { ScalarType } from '@bufbuild/protobuf';
import { base64Decode } from '@bufbuild/protobuf/wire';
import { Problem } from '../problem.ts';

/** A JSON value as it was written: members in their order and with repetitions, numbers as text. */
export type JsonTree =
  | { readonly is: 'object'; readonly members: readonly JsonMember[] }
  | { readonly is: 'list'; readonly items: readonly JsonTree[] }
  | { readonly is: 'string'; readonly value: string }
  | { readonly is: 'number'; readonly written: string }
  | { readonly is: 'boolean' | 'null' };

type JsonMember = readonly [name: string, value: JsonTree];

/** Brackets, strings, and the other values. Spaces, commas and colons lie between them. */
const TOKENS = /[{}[\]]|"[^"\\]*(?:\\.[^"\\]*)*"|[^\s,:{}[\]"]+/g;

/**
 * Reads a JSON text, after `JSON.parse` has checked it. Throws the SyntaxError of `JSON.parse`, which says what is wrong,
 * and where. The caller bounds the depth of the text.
 */
export function readJsonTree(text: string): JsonTree {
  JSON.parse(text);
  const tokens = text.matchAll(TOKENS);
  const next = (): string => tokens.next().value?.[0] ?? '';
  return readValue(next(), next);
}

/** Reads the value that a token begins. */
function readValue(token: string, next: () => string): JsonTree {
  switch (token[0]) {
    case '{': {
      const members: JsonMember[] = [];
      for (let name = next(); name !== '}'; name = next()) members.push([readText(name), readValue(next(), next)]);
      return { is: 'object', members };
    }
    case '[': {
      const items: JsonTree[] = [];
      for (let first = next(); first !== ']'; first = next()) items.push(readValue(first, next));
      return { is: 'list', items };
    }
    case '"':
      return { is: 'string', value: readText(token) };
    case 't':
    case 'f':
      return { is: 'boolean' };
    case 'n':
      return { is: 'null' };
    default:
      return { is: 'number', written: token };
  }
}

function readText(token: string): string {
  return JSON.parse(token) as string;
}

interface IntegerRange {
  readonly min: bigint;
  readonly max: bigint;
}

const INT32: IntegerRange = { min: -(2n ** 31n), max: 2n ** 31n - 1n };
const UINT32: IntegerRange = { min: 0n, max: 2n ** 32n - 1n };
const INT64: IntegerRange = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const UINT64: IntegerRange = { min: 0n, max: 2n ** 64n - 1n };
/** The values of each type of whole numbers. */
export const INTEGERS: Partial<Readonly<Record<ScalarType, IntegerRange>>> = {
  [ScalarType.INT32]: INT32,
  [ScalarType.SINT32]: INT32,
  [ScalarType.SFIXED32]: INT32,
  [ScalarType.UINT32]: UINT32,
  [ScalarType.FIXED32]: UINT32,
  [ScalarType.INT64]: INT64,
  [ScalarType.SINT64]: INT64,
  [ScalarType.SFIXED64]: INT64,
  [ScalarType.UINT64]: UINT64,
  [ScalarType.FIXED64]: UINT64,
};
const FLOAT_MAX = 3.4028234663852886e38;
const WHOLE = /^-?(?:0|[1-9]\d*)$/;
const DECIMAL = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const NO_NUMBERS: readonly string[] = ['NaN', 'Infinity', '-Infinity'];
/** The most characters of a caller's text that a refusal repeats. */
const SHOWN_LENGTH_MAX = 64;
/** The longest written number that is read. */
const DIGITS_MAX = 40;
/** A kind of value, as a refusal names it. */
export const WORDS: Readonly<Record<JsonTree['is'], string>> = {
  object: 'an object',
  list: 'a list',
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
};

/** The right JSON of a value, in words and as a check. */
export interface JsonForm {
  readonly wanted: string;
  readonly fits: (tree: JsonTree) => boolean;
}

const TEXT: JsonForm = { wanted: 'a string', fits: ({ is }) => is === 'string' };
/** The forms of the scalars that are neither integers nor texts. */
const FORMS: Partial<Readonly<Record<ScalarType, JsonForm>>> = {
  [ScalarType.BOOL]: { wanted: 'true or false', fits: ({ is }) => is === 'boolean' },
  [ScalarType.BYTES]: { wanted: 'a string in base64', fits: (tree) => tree.is === 'string' && isBase64(tree.value) },
  [ScalarType.FLOAT]: newDecimalForm(FLOAT_MAX),
  [ScalarType.DOUBLE]: newDecimalForm(Number.MAX_VALUE),
};

/** Refuses a value that is no scalar of a type. */
export function assertScalar(scalar: ScalarType, tree: JsonTree, path: string): void {
  const range = INTEGERS[scalar];
  if (range !== undefined) {
    assertInteger(tree, path, range);
    return;
  }
  assertForm(FORMS[scalar] ?? TEXT, tree, path);
  if (tree.is === 'string' && !tree.value.isWellFormed())
    throw refusal(path, 'must be Unicode; half of a surrogate pair is not');
}

export function assertForm({ wanted, fits }: JsonForm, tree: JsonTree, path: string): void {
  if (!fits(tree)) throw refusal(path, `must be ${wanted}; it is ${showValue(tree)}`);
}

function assertInteger(tree: JsonTree, path: string, { min, max }: IntegerRange): void {
  assertForm({ wanted: 'a whole number', fits: isWhole }, tree, path);
  const written = readNumberText(tree);
  const value = written.length > DIGITS_MAX ? undefined : BigInt(WHOLE.test(written) ? written : Number(written));
  if (value === undefined || value < min || value > max)
    throw refusal(path, `must be from ${min} to ${max}; it is ${shorten(written)}`);
  // JSON readers round such a number
  if (tree.is === 'number' && !Number.isSafeInteger(Number(written)))
    throw refusal(path, `must be written as a string, such as "${value}", because it is beyond 2^53`);
}

function isWhole(tree: JsonTree): boolean {
  const written = readNumberText(tree);
  return tree.is === 'number' ? Number.isInteger(Number(written)) : WHOLE.test(written);
}

function newDecimalForm(most: number): JsonForm {
  return {
    wanted: `a number from -${most} to ${most}`,
    fits: (tree) => {
      const written = readNumberText(tree);
      if (DECIMAL.test(written)) return Math.abs(Number(written)) <= most;
      return NO_NUMBERS.includes(written);
    },
  };
}

/** Returns '' for a value that is neither a number nor a string. */
function readNumberText(tree: JsonTree): string {
  if (tree.is === 'number') return tree.written;
  return tree.is === 'string' ? tree.value : '';
}

function isBase64(text: string): boolean {
  try {
    base64Decode(text);
    return true;
  } catch {
    return false;
  }
}

/** A refusal of what stands at a path of the contract. */
export function refusal(field: string, message: string): Problem {
  return new Problem({ kind: 'invalid', reason: 'invalid_request', field, message });
}

/** The beginning of a value that a caller wrote, or its kind if it is not written in a few characters. */
export function showValue(tree: JsonTree): string {
  if (tree.is === 'string') return quote(tree.value);
  return tree.is === 'number' ? shorten(tree.written) : WORDS[tree.is];
}

export function quote(text: string): string {
  return JSON.stringify(shorten(text));
}

/** The beginning of a text that a caller wrote, fit to be repeated. */
export function shorten(text: string): string {
  return (text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text).toWellFormed();
}
