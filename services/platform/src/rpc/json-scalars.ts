import { ScalarType } from '@bufbuild/protobuf';
import { base64Decode } from '@bufbuild/protobuf/wire';
import { Problem } from '../problem.ts';
import type { JsonTree } from './json-tree.ts';

const INT32 = { min: -(2n ** 31n), max: 2n ** 31n - 1n };
const UINT32 = { min: 0n, max: 2n ** 32n - 1n };
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };
const UINT64 = { min: 0n, max: 2n ** 64n - 1n };
const INTEGERS: Partial<Readonly<Record<ScalarType, { readonly min: bigint; readonly max: bigint }>>> = {
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
const WHOLE = /^-?\d+$/;
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
/** Refuses a value that is no scalar of a type. */
export function assertScalar(scalar: ScalarType, tree: JsonTree, path: string): void {
  const range = INTEGERS[scalar];
  if (range === undefined) (CHECKS[scalar] ?? assertText)(tree, path);
  else assertInteger(tree, path, { ...range, is64: range === INT64 || range === UINT64 });
}

type CheckScalar = (tree: JsonTree, path: string) => void;

/** Those that are neither integers nor texts. */
const CHECKS: Partial<Readonly<Record<ScalarType, CheckScalar>>> = {
  [ScalarType.BOOL]: (tree, path) => {
    if (tree.is !== 'boolean') throw refusal(path, `must be true or false; it is ${WORDS[tree.is]}`);
  },
  [ScalarType.FLOAT]: (tree, path) => {
    assertDecimal(tree, path, FLOAT_MAX);
  },
  [ScalarType.DOUBLE]: (tree, path) => {
    assertDecimal(tree, path, Number.MAX_VALUE);
  },
  [ScalarType.BYTES]: (tree, path) => {
    if (tree.is !== 'string') throw refusal(path, `must be a string in base64; it is ${WORDS[tree.is]}`);
    if (!isBase64(tree.value)) throw refusal(path, 'must be a string in base64');
  },
};

/** Refuses a value that is no text. */
function assertText(tree: JsonTree, path: string): void {
  if (tree.is !== 'string') throw refusal(path, `must be a string; it is ${WORDS[tree.is]}`);
  if (!tree.value.isWellFormed()) throw refusal(path, 'must be Unicode; half of a surrogate pair is not');
}

function assertInteger(
  tree: JsonTree,
  path: string,
  { min, max, is64 }: { readonly min: bigint; readonly max: bigint; readonly is64: boolean },
): void {
  const written = readNumberText(tree);
  if (written === undefined) throw refusal(path, `must be a whole number; it is ${WORDS[tree.is]}`);
  const isWhole = tree.is === 'number' ? Number.isInteger(Number(written)) : WHOLE.test(written);
  if (!isWhole) throw refusal(path, `must be a whole number; it is ${showNumber(tree, written)}`);
  const value = written.length > DIGITS_MAX ? undefined : BigInt(WHOLE.test(written) ? written : Number(written));
  if (value === undefined || value < min || value > max)
    throw refusal(path, `must be from ${min} to ${max}; it is ${shorten(written)}`);
  // JSON readers round such a number
  if (is64 && tree.is === 'number' && !Number.isSafeInteger(Number(written)))
    throw refusal(path, `must be written as a string, such as "${value}", because it is beyond 2^53`);
}

function assertDecimal(tree: JsonTree, path: string, most: number): void {
  const written = readNumberText(tree);
  if (written === undefined) throw refusal(path, `must be a number; it is ${WORDS[tree.is]}`);
  if (tree.is === 'string' && NO_NUMBERS.includes(written)) return;
  const value = written === '' || written !== written.trim() ? NaN : Number(written);
  if (Number.isNaN(value)) throw refusal(path, `must be a number; it is ${showNumber(tree, written)}`);
  if (Math.abs(value) > most) throw refusal(path, `must be from -${most} to ${most}`);
}

function readNumberText(tree: JsonTree): string | undefined {
  if (tree.is === 'number') return tree.written;
  return tree.is === 'string' ? tree.value : undefined;
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

function showNumber(tree: JsonTree, written: string): string {
  return tree.is === 'number' ? shorten(written) : quote(written);
}

export function quote(text: string): string {
  return JSON.stringify(shorten(text));
}

/** The beginning of a text that a caller wrote, fit to be repeated. */
export function shorten(text: string): string {
  return (text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text).toWellFormed();
}
