/** A field or a header that must be absent. */
export const absent: unique symbol = Symbol('absent');

/** An expected value with a description and a check. */
export class Described {
  readonly what: string;
  readonly holds: (value: unknown) => boolean;

  constructor(what: string, holds: (value: unknown) => boolean) {
    this.what = what;
    this.holds = holds;
  }
}

/** A text that contains another, which may hold the name of a kept value. */
export class Containing {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An object with these fields and no others. */
export class Exactly {
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(fields: Readonly<Record<string, unknown>>) {
    this.fields = fields;
  }
}

export const exactly = (fields: Readonly<Record<string, unknown>>): Exactly => new Exactly(fields);
export const oneOf = (...values: readonly unknown[]): Described =>
  new Described(`one of ${values.map(show).join(', ')}`, (value) => values.includes(value));
export const containing = (text: string): Containing => new Containing(text);
export const sized = (count: number): Described =>
  new Described(`a list of ${count}`, (value) => Array.isArray(value) && value.length === count);
export const within = (least: number, most: number): Described =>
  new Described(
    `a whole number from ${least} to ${most}`,
    (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  );

const UNIX_MIN = 1_600_000_000;
const UNIX_MAX = 4_000_000_000;

export const is = {
  text: new Described('a text that is not empty', (value) => typeof value === 'string' && value !== ''),
  /** The code of a relayed refusal, because not every upstream has codes. */
  textOrNull: new Described('a text or null', (value) => value === null || (typeof value === 'string' && value !== '')),
  taskId: new Described('a task id', (value) => typeof value === 'string' && /^task_[0-9a-z]{26}$/.test(value)),
  jobId: new Described('an id of an asynchronous call', (value) => typeof value === 'string' && /^job_/.test(value)),
  unix: within(UNIX_MIN, UNIX_MAX),
  count: within(1, 1_000_000_000),
  natural: within(0, 4_000_000_000),
  width: within(1, 10_000),
  list: new Described('a list', Array.isArray),
  object: new Described('an object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value)),
  wholeText: new Described('whole seconds as text', (value) => typeof value === 'string' && /^[1-9]\d*$/.test(value)),
  decimal: new Described('a decimal as text', (value) => typeof value === 'string' && /^\d+(\.\d+)?$/.test(value)),
} as const;

/**
 * How a value differs from the expectation; undefined if it does not. An object may have more fields than expected. A
 * list may not have more items.
 */
export function mismatch(value: unknown, expected: unknown, at = 'body'): string | undefined {
  if (expected instanceof Exactly) return exactMismatch(value, expected, at);
  if (Array.isArray(expected)) return listMismatch(value, expected, at);
  if (isRecord(expected) && !isWhole(expected)) return fieldMismatch(value, expected, at);
  return holds(value, expected) ? undefined : `${at} is ${show(value)}, expected ${described(expected)}`;
}

/** Values that are compared as a whole, not field by field. */
function isWhole(expected: object): expected is Described | Containing | RegExp {
  return expected instanceof Described || expected instanceof Containing || expected instanceof RegExp;
}

function holds(value: unknown, expected: unknown): boolean {
  if (expected === absent) return value === undefined;
  if (expected instanceof Described) return expected.holds(value);
  if (expected instanceof Containing) return typeof value === 'string' && value.includes(expected.text);
  if (expected instanceof RegExp) return typeof value === 'string' && expected.test(value);
  return Object.is(value, expected);
}

function described(expected: unknown): string {
  if (expected === absent) return 'nothing';
  if (expected instanceof Described) return expected.what;
  if (expected instanceof Containing) return `a text with ${show(expected.text)}`;
  return expected instanceof RegExp ? String(expected) : show(expected);
}

function exactMismatch(value: unknown, { fields }: Exactly, at: string): string | undefined {
  const other = isRecord(value) ? Object.keys(value).find((name) => !Object.hasOwn(fields, name)) : undefined;
  return other === undefined
    ? fieldMismatch(value, fields, at)
    : `${at}.${other} is a field, expected none of that name`;
}

function listMismatch(value: unknown, expected: readonly unknown[], at: string): string | undefined {
  if (!Array.isArray(value) || value.length !== expected.length)
    return `${at} is ${show(value)}, expected a list of ${expected.length}`;
  return firstOf(expected.map((item, index) => mismatch(value[index], item, `${at}[${index}]`)));
}

function fieldMismatch(value: unknown, fields: Readonly<Record<string, unknown>>, at: string): string | undefined {
  if (!isRecord(value)) return `${at} is ${show(value)}, expected an object`;
  return firstOf(Object.entries(fields).map(([name, field]) => mismatch(value[name], field, `${at}.${name}`)));
}

function firstOf(faults: readonly (string | undefined)[]): string | undefined {
  return faults.find((fault) => fault !== undefined);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const SHOWN_MAX = 300;

/** A value in the form of a report. */
export function show(value: unknown): string {
  if (Buffer.isBuffer(value)) return `${value.length} bytes`;
  const text = value === undefined ? 'absent' : JSON.stringify(value);
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
}
