import { formatNumber } from '../domain/decimal.ts';
import { invalid } from '../dialects/wire/body-validator.ts';
import type { Schema } from '../domain/schema.ts';

/**
 * Returns the arguments without empty ones: null, an empty text, and an empty list. Some clients send every argument of
 * a schema, and models fill in the others. A required argument that is empty is then missing, and its check names it.
 * An unknown name stays, and is refused.
 */
export function dropEmptyArguments({ properties }: Schema, given: unknown): unknown {
  if (given === null || given === undefined) return {};
  if (typeof given !== 'object' || Array.isArray(given)) return given;
  const known = properties as Readonly<Record<string, Schema>>;
  return Object.fromEntries(
    Object.entries(given).filter(([name, value]) => !Object.hasOwn(known, name) || !isEmpty(value)),
  );
}

function isEmpty(value: unknown): boolean {
  return (
    value === null || (typeof value === 'string' ? value.trim() === '' : Array.isArray(value) && value.length === 0)
  );
}

/** Returns the arguments with amounts as texts. A JSON number is read as the decimal that its client wrote. */
export function readAmounts(names: readonly string[], given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given;
  const numbers = names.flatMap((name) => {
    const value = (given as Readonly<Record<string, unknown>>)[name];
    return typeof value === 'number' ? [[name, readNumber(name, value)]] : [];
  });
  return numbers.length === 0 ? given : { ...given, ...Object.fromEntries(numbers) };
}

function readNumber(name: string, value: number): string {
  const text = formatNumber(value);
  if (text === undefined)
    throw invalid(name, 'must have at most 15 digits and nine places as a number; send a text such as "0.40"');
  return text;
}
