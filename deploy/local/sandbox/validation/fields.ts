import { invalidParams } from '../vendor-refusal.ts';

/** A JSON object with values that are not checked yet. */
export type Fields = Readonly<Record<string, unknown>>;

export function readFields(value: unknown, allowed: readonly string[], where: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidParams(`${where} must be an object`);
  const stranger = Object.keys(value).find((name) => !allowed.includes(name));
  if (stranger !== undefined) throw invalidParams(`unknown field ${JSON.stringify(stranger.slice(0, 64))} in ${where}`);
  return value as Fields;
}

export function readText(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || value === '') throw invalidParams(`${name} must be a non-empty string`);
  return value;
}

export function readChoice<Choice extends string>(fields: Fields, name: string, choices: readonly Choice[]): Choice {
  const chosen = choices.find((choice) => choice === fields[name]);
  if (chosen === undefined) throw invalidParams(`${name} must be one of ${choices.join(', ')}`);
  return chosen;
}

export function readWhole(fields: Fields, name: string, [min, max]: readonly [number, number]): number {
  const value = fields[name];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw invalidParams(`${name} must be an integer from ${min} to ${max}`);
  }
  return value;
}

export function readFlag(fields: Fields, name: string): boolean {
  const value = fields[name];
  if (typeof value !== 'boolean') throw invalidParams(`${name} must be true or false`);
  return value;
}

/** Reads a field that may be absent. A null is not absent. */
export function ifPresent<Value>(
  fields: Fields,
  name: string,
  read: (fields: Fields, name: string) => Value,
): Value | undefined {
  return fields[name] === undefined ? undefined : read(fields, name);
}
