import { assertBounds, LARGE_JSON } from '@reelgate/platform/bounded-json';
import type { JsonBounds } from '@reelgate/platform/bounded-json';
import { newLongTextCutter } from './long-text-cutter.ts';
import type { LongTextCutter } from './long-text-cutter.ts';

/** The limits of an answer in bytes. The documentation of the adapter kit states them. */
const LIMITS: AnswerLimits = { text: 64 * 1024, kept: 4 * 1024 * 1024, whole: 512 * 1024 * 1024 };

export interface AnswerLimits {
  /** A longer text is cut. */
  readonly text: number;
  /** An answer of which more is kept counts as too long. A text that is being read is kept until it is cut. */
  readonly kept: number;
  /** An answer of more counts as too long, so a text without an end is given up. */
  readonly whole: number;
}

/** By their names in lower case. */
export type AnswerHeaders = Readonly<Record<string, string | string[] | undefined>>;

export interface WholeAnswer {
  readonly kind: 'answer';
  readonly status: number;
  /** Undefined if the answer is not JSON. `CUT_TEXT` stands in place of each long text. */
  readonly body: unknown;
  readonly headers: AnswerHeaders;
}

/** Collects an answer while it arrives. */
export interface AnswerCollector {
  begin(status: number, headers: AnswerHeaders): void;
  /** Adds a part. Returns whether the answer is still within the limits. */
  take(part: Buffer): boolean;
  whole(): WholeAnswer;
}

export function newAnswerCollector(limits: AnswerLimits = LIMITS): AnswerCollector {
  const parts: Buffer[] = [];
  let cutter: LongTextCutter | undefined;
  let [status, bytes] = [0, 0];
  let headers: AnswerHeaders = {};
  const newCutter = (): LongTextCutter => {
    const opened = newLongTextCutter(limits.text);
    for (const part of parts.splice(0)) opened.take(part);
    return opened;
  };
  return {
    begin: (code, given) => {
      [status, headers] = [code, given];
    },
    take: (part) => {
      bytes += part.length;
      // An answer as small as this has no long text.
      if (bytes <= limits.text) return parts.push(part) > 0;
      cutter ??= newCutter();
      return cutter.take(part) <= limits.kept && bytes <= limits.whole;
    },
    whole: () => ({
      kind: 'answer',
      status,
      body: parseJson(cutter === undefined ? Buffer.concat(parts).toString('utf8') : (cutter.finish() ?? '')),
      headers,
    }),
  };
}

/**
 * Parses an answer within the bounds. Returns undefined if it is not JSON or exceeds the bounds. An empty answer is
 * recognised first: an exception costs more than the rest of a call.
 */
function parseJson(text: string): unknown {
  if (text === '') return undefined;
  try {
    return parseAnswer(text);
  } catch {
    return undefined;
  }
}

/** Whole numbers of at least this length can be too large for a number of JavaScript. They are rare. */
const LONG_NUMBER = /\d{16}/;
const WHOLE = /^-?\d+$/;

/**
 * Parses a text of an upstream. A whole number that a number of JavaScript cannot hold, such as an id above 2^53,
 * becomes the text of its digits. Throws if the text is not JSON or exceeds the bounds.
 */
export function parseAnswer(text: string, bounds: JsonBounds = LARGE_JSON): unknown {
  assertBounds(Buffer.from(text), bounds);
  return LONG_NUMBER.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
}

/** Node passes the text of a value; the types of this TypeScript do not know it yet. */
function keepDigits(this: unknown, _name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const { source = '' } = context ?? {};
  return typeof value === 'number' && !Number.isSafeInteger(value) && WHOLE.test(source) ? source : value;
}
