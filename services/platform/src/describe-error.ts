/** The characters of a message that a line shows. */
const MESSAGE_LENGTH_MAX = 500;
const NAME_LENGTH_MAX = 64;
const FRAMES_MAX = 12;
const FRAME_LENGTH_MAX = 200;
/** The errors of one value: itself, its causes and those that it sums up. */
const ERRORS_MAX = 8;
/** The levels of objects and lists in which errors are searched. */
const DEPTH_MAX = 4;
const CODE = /^[\w.-]{1,64}$/;
/** The text of a client in a message of the parser of JSON. */
const QUOTED_JSON = /, (?:\.\.\.)?"[\s\S]*"(?:\.\.\.)? is not valid JSON/;

/** An error as a line of the log shows it. */
export interface DescribedError {
  readonly type: string;
  readonly code?: string;
  readonly message: string;
  /** The places in the program, without the message. */
  readonly stack?: string;
  readonly cause?: DescribedError;
  readonly errors?: readonly DescribedError[];
}

/** Counts the errors of one line. */
interface Bound {
  left: number;
}

/**
 * Describes an error by its code, message and places. Its other members stay out of the log: the parser of HTTP adds the
 * bytes of a request, clients of HTTP add headers and bodies, and drivers of databases add the values of a row.
 */
export function describeError(error: unknown, bound: Bound = { left: ERRORS_MAX }): DescribedError {
  bound.left -= 1;
  try {
    return isError(error)
      ? describe(error, bound)
      : { type: typeof error, message: cut(toText(error), MESSAGE_LENGTH_MAX) };
  } catch {
    // a member that is computed, and throws
    return { type: 'unknown', message: 'an error that cannot be read' };
  }
}

function describe(error: Error, bound: Bound): DescribedError {
  const { name, message, stack, cause } = error;
  const { code, reason, errors } = error as { readonly code?: unknown; reason?: unknown; errors?: unknown };
  const frames = isPlain(error) ? '' : readFrames(stack);
  const described: DescribedError = {
    type: cut(toText(name), NAME_LENGTH_MAX),
    ...readCode(code ?? reason),
    message: cut(toText(message).replace(QUOTED_JSON, ' is not valid JSON'), MESSAGE_LENGTH_MAX),
    ...(frames === '' ? {} : { stack: frames }),
  };
  const list = Array.isArray(errors) ? describeAll(errors, bound) : [];
  return {
    ...described,
    ...(cause === undefined || cause === null || bound.left <= 0 || isPlain(error)
      ? {}
      : { cause: describeError(cause, bound) }),
    ...(list.length === 0 ? {} : { errors: list }),
  };
}

function describeAll(errors: readonly unknown[], bound: Bound): DescribedError[] {
  const described: DescribedError[] = [];
  for (const error of errors) {
    if (bound.left <= 0) break;
    described.push(describeError(error, bound));
  }
  return described;
}

function readCode(code: unknown): { readonly code?: string } {
  const text = typeof code === 'number' ? String(code) : code;
  return typeof text === 'string' && CODE.test(text) ? { code: text } : {};
}

/** Reports whether the message alone tells an operator the fault and the remedy, so that a stack would not help. */
export function isPlain(error: unknown): error is Error {
  return isError(error) && (error as { readonly isPlain?: unknown }).isPlain === true;
}

/** The stack begins with the message, which is cut elsewhere. */
function readFrames(stack: unknown): string {
  if (typeof stack !== 'string') return '';
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return frames
    .slice(0, FRAMES_MAX)
    .map((frame) => cut(frame.trim(), FRAME_LENGTH_MAX))
    .join('\n');
}

/** Only a text is useful here. An object could have any member. */
function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function cut(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}…`;
}

function isError(value: unknown): value is Error {
  // an error of another realm has another class
  return value instanceof Error || Object.prototype.toString.call(value) === '[object Error]';
}

/** Returns fields in which every error is described, under any name and inside lists and plain objects too. */
export function describeErrors(fields: object): object {
  return isError(fields) ? { err: describeError(fields) } : describeMembers(fields, DEPTH_MAX);
}

/** A thrown value has the name `err`, and need not be an error. */
function describeMembers(object: object, depth: number): object {
  const members = Object.entries(object).map(([name, value]) => [
    name,
    name === 'err' && value !== undefined ? describeError(value) : describeWithin(value, depth),
  ]);
  return Object.fromEntries(members) as object;
}

function describeWithin(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (isError(value)) return describeError(value);
  const isList = Array.isArray(value);
  const prototype: unknown = Object.getPrototypeOf(value);
  // a class of ours defines its public fields by `toJSON`
  if (!isList && prototype !== Object.prototype && prototype !== null) return value;
  if (depth === 0) return '…';
  return isList ? value.map((item) => describeWithin(item, depth - 1)) : describeMembers(value, depth - 1);
}
