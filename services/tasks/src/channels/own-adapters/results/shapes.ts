import { readCount, readObject } from '@reelgate/adapter-kit/kit';
import { LARGE_JSON, parseBoundedText } from '@reelgate/platform/bounded-json';

const TEXT_CHARS_MAX = 64 * 1024;
const SHOWN_CHARS_MAX = 200;

/** Copies the parts that a value of an adapter may have. Throws an error with the place of any other part. */
export type Shape<T> = (value: unknown, at: string) => T;
type ShapeOf<S> = S extends Shape<infer T> ? T : never;

/** The error of an unexpected value. */
function toWrongValue(value: unknown, at: string, expected: string): Error {
  const shown = JSON.stringify(value) ?? 'nothing';
  const cut = shown.length > SHOWN_CHARS_MAX ? `${shown.slice(0, SHOWN_CHARS_MAX)}…` : shown;
  return new Error(`${at} is ${cut}; expected ${expected}`);
}

export function text(pattern?: RegExp, expected = 'a text'): Shape<string> {
  return (value, at) => {
    if (typeof value !== 'string' || pattern?.test(value) === false) throw toWrongValue(value, at, expected);
    if (value.length > TEXT_CHARS_MAX) throw new Error(`${at} has more than ${TEXT_CHARS_MAX} characters`);
    return value;
  };
}

/** A text as long as the whole answer may be. */
export const longText: Shape<string> = (value, at) => {
  if (typeof value !== 'string') throw toWrongValue(value, at, 'a text');
  return value;
};

const number: Shape<number> = (value, at) => {
  if (typeof value !== 'number') throw toWrongValue(value, at, 'a number');
  return value;
};

/** A number that is no count is left out, as in the answers that built-in adapters read. */
export const count: Shape<number | undefined> = (value, at) => readCount(number(value, at));

/** A time in milliseconds. */
export const time: Shape<number | undefined> = (value, at) => readCount(Math.floor(number(value, at)));

export const flag: Shape<boolean> = (value, at) => {
  if (typeof value !== 'boolean') throw toWrongValue(value, at, 'true or false');
  return value;
};

/** Any JSON object. */
export const object: Shape<object> = (value, at) => {
  if (typeof value !== 'object' || value === null) throw toWrongValue(value, at, 'an object');
  return value;
};

export function word<const Word extends string>(...words: readonly Word[]): Shape<Word> {
  return (value, at) => {
    if (!words.includes(value as Word)) throw toWrongValue(value, at, `one of: ${words.join(', ')}`);
    return value as Word;
  };
}

/** JSON has null where an adapter has a number that is not finite, so null counts as absent. */
export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value, at) => (value === undefined || value === null ? undefined : shape(value, at));
}

export function list<T>(shape: Shape<T>): Shape<readonly T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) throw toWrongValue(value, at, 'a list');
    return value.map((one: unknown, index) => shape(one, `${at}.${index}`));
  };
}

export function map<T>(shape: Shape<T>, names?: Shape<string>): Shape<Readonly<Record<string, T>>> {
  return (value, at) => {
    const members = Object.entries(object(value, at));
    return Object.fromEntries(members.map(([name, one]) => [names?.(name, at) ?? name, shape(one, `${at}.${name}`)]));
  };
}

/** An object with these members alone: members that the service does not know are not passed on. */
export function record<const Members extends Readonly<Record<string, Shape<unknown>>>>(
  members: Members,
): Shape<{ readonly [Name in keyof Members]: ShapeOf<Members[Name]> }> {
  const known = Object.entries(members);
  return (value, at) => {
    const from = readObject(object(value, at));
    const taken = known.map(([name, shape]) => [name, shape(from[name], `${at}.${name}`)] as const);
    return Object.fromEntries(taken.filter(([, one]) => one !== undefined)) as never;
  };
}

/** A record with a member `name` that selects its shape. */
export function byWord<Shapes extends Readonly<Record<string, Shape<unknown>>>>(
  name: string,
  shapes: Shapes,
): Shape<ShapeOf<Shapes[keyof Shapes]>> {
  const said = word(...Object.keys(shapes));
  return (value, at) => {
    const chosen = said(readObject(value)[name], `${at}.${name}`);
    return shapes[chosen]?.(value, at) as never;
  };
}

const SETS_PROTOTYPE = '__proto__';

/**
 * Reads a JSON text from the code of an adapter. Throws an error if it is larger than an answer of an upstream may be,
 * or has a member that sets a prototype where an object is copied member by member.
 */
export function readPlainJson(text: string): unknown {
  const value = parseBoundedText(text, LARGE_JSON, 'result');
  for (let level: readonly unknown[] = [value]; level.length > 0; level = level.flatMap(listMembers));
  return value;
}

function listMembers(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Object.hasOwn(value, SETS_PROTOTYPE)) throw new Error(`has a member ${SETS_PROTOTYPE}`);
  return Object.values(value);
}
