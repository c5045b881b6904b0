import { newLongTextCutter } from './long-text-cutter.ts';
import type { LongTextCutter } from './long-text-cutter.ts';
import { parseAnswer } from './parse-answer.ts';

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
