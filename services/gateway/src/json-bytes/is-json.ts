import { nextTurn } from '@reelgate/platform/bounded-json';
import { endOfString, isSpace } from './json-members.ts';

const [QUOTE, COMMA, COLON, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x22, 0x2c, 0x3a, 0x7b, 0x7d, 0x5b, 0x5d];
const MARKS: ReadonlySet<number | undefined> = new Set([QUOTE, COMMA, COLON, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST]);
const WORD = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
const WORD_BYTES_MAX = 4096;
const DEPTH_MAX = 64;
/** A text of this length is parsed in two milliseconds. */
const PARSED_BYTES_MAX = 64 * 1024;
/** This number of values is checked in a few milliseconds. */
const TURN_STEPS = 20_000;

/** The tokens that may come next. */
type Next = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end' | 'nothing';

/**
 * Reports whether the bytes are JSON. A long text is checked in several turns of the event loop, without building its
 * value; if it has more than 64 levels, it counts as no JSON.
 */
export async function isJsonInTurns(bytes: Buffer, parsedBytesMax = PARSED_BYTES_MAX): Promise<boolean> {
  if (bytes.length <= parsedBytesMax) return parses(bytes.toString());
  const check = newJsonCheck(bytes);
  for (let at = 0, steps = 1; at < bytes.length; steps += 1) {
    if (isSpace(bytes[at])) at += 1;
    else {
      const end = check.take(at);
      if (end === undefined) return false;
      at = end;
    }
    if (steps % TURN_STEPS === 0) await nextTurn();
  }
  return check.isComplete();
}

interface JsonCheck {
  /** Takes the element that begins here, and returns its end, or undefined if it is not allowed here. */
  take(at: number): number | undefined;
  isComplete(): boolean;
}

function newJsonCheck(bytes: Buffer): JsonCheck {
  /** The ends of the objects and lists that are open. */
  const open: number[] = [];
  let next: Next = 'value';
  const endValue = (): void => {
    next = open.length === 0 ? 'nothing' : 'comma or end';
  };
  const takesValue = (): boolean => next === 'value' || next === 'value or end';
  const takeString = (at: number): number | undefined => {
    const isName = next === 'name' || next === 'name or end';
    if (!isName && !takesValue()) return undefined;
    const end = endOfString(bytes, at);
    if (!parses(bytes.toString('utf8', at, end))) return undefined;
    if (isName) next = 'colon';
    else endValue();
    return end;
  };
  const takeMark = (mark: number): boolean => {
    if (mark === OPEN || mark === OPEN_LIST) {
      if (!takesValue() || open.length === DEPTH_MAX) return false;
      open.push(mark === OPEN ? CLOSE : CLOSE_LIST);
      next = mark === OPEN ? 'name or end' : 'value or end';
    } else if (mark === COLON) {
      if (next !== 'colon') return false;
      next = 'value';
    } else if (mark === COMMA) {
      if (next !== 'comma or end') return false;
      next = open.at(-1) === CLOSE ? 'name' : 'value';
    } else {
      if (!next.endsWith('or end') || open.pop() !== mark) return false;
      endValue();
    }
    return true;
  };
  const takeWord = (at: number): number | undefined => {
    let end = at;
    while (end < bytes.length && !isSpace(bytes[end]) && !MARKS.has(bytes[end])) end += 1;
    if (!takesValue() || end - at > WORD_BYTES_MAX || !WORD.test(bytes.toString('latin1', at, end))) return undefined;
    endValue();
    return end;
  };
  return {
    take: (at) => {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) return takeString(at);
      if (!MARKS.has(byte)) return takeWord(at);
      return takeMark(byte) ? at + 1 : undefined;
    },
    isComplete: () => next === 'nothing',
  };
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
