import { Problem } from './problem.ts';

/** The maximum size of a JSON text. Each bound limits a part that takes far longer to parse than its bytes suggest. */
export interface JsonBounds {
  readonly depth: number;
  readonly membersOfObject: number;
  /** All values together. A number, a list or an object counts 1, a string 5, and the name of a member 7 more. */
  readonly values: number;
  /** All names of members together. */
  readonly nameBytes: number;
  /** All escapes in strings together. */
  readonly escapes: number;
  /** All bytes outside of strings together. */
  readonly plainBytes: number;
}

const MIB = 1024 * 1024;

/** Bounds of a request that names an action: some members, each with a value or a few. Parsing takes 5 ms at most. */
export const SMALL_JSON: JsonBounds = {
  depth: 64,
  membersOfObject: 1000,
  values: 40_000,
  nameBytes: MIB,
  escapes: 2 * MIB,
  plainBytes: 4 * MIB,
};

/**
 * Bounds of a request to a model and of the answer of an upstream: conversations of thousands of messages, hundreds of
 * tools, the 300,000 tokens that one request for embeddings may have. Parsing takes 40 ms at most.
 */
export const LARGE_JSON: JsonBounds = {
  depth: 64,
  membersOfObject: 5000,
  values: 400_000,
  nameBytes: 2 * MIB,
  escapes: 4 * MIB,
  plainBytes: 16 * MIB,
};

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d];
/** Together with the comma or the bracket that each value comes with, these are the numbers of `JsonBounds.values`. */
const [STRING_VALUES, NAME_VALUES] = [4, 3];
/** Within a string a loop over these bytes costs as much as one call of `indexOf`. */
const NEAR_BYTES = 128;
/** One MiB is scanned in about two milliseconds. */
const PIECE_BYTES = MIB;
/** A text of at most this length is read in one turn: it cannot have much in it. */
const ONE_TURN_BYTES = 64 * 1024;
const COUNTED = new Set([QUOTE, COMMA, COLON, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST]);
const IS_COUNTED = Uint8Array.from({ length: 256 }, (_, byte) => Number(COUNTED.has(byte)));
const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Parses JSON in UTF-8 that a stranger wrote. It first counts the parts that slow parsing down, and refuses a text with
 * too many. For bytes that are not JSON it throws the error of `JSON.parse` or of the decoder.
 */
export function parseBoundedJson(bytes: Uint8Array, bounds: JsonBounds, subject?: string): unknown {
  assertBounds(bytes, bounds, { subject });
  return JSON.parse(UTF8.decode(bytes));
}

/** Does the same for a text that is decoded already, such as the value of this field. */
export function parseBoundedText(text: string, bounds: JsonBounds, field?: string): unknown {
  assertBounds(Buffer.from(text), bounds, { field });
  return JSON.parse(text);
}

/** Parses the answer of an upstream. Bytes that are not UTF-8 do not prevent it. */
export function parseAnsweredJson(answer: Uint8Array): unknown {
  assertBounds(answer, LARGE_JSON);
  return JSON.parse(Buffer.from(answer.buffer, answer.byteOffset, answer.length).toString());
}

/**
 * Does the same as `parseBoundedJson`, spread over several ticks of the event loop, so that a large text does not delay
 * other work. The caller continues in a new tick.
 */
export async function parseJsonInTurns(bytes: Uint8Array, bounds: JsonBounds): Promise<unknown> {
  if (bytes.length <= ONE_TURN_BYTES) return parseBoundedJson(bytes, bounds);
  const scan = newJsonScan(bounds);
  for (const piece of cutPieces(bytes)) {
    refuseExcess(scan(piece));
    await nextTurn();
  }
  const text = UTF8.decode(bytes);
  await nextTurn();
  const value: unknown = JSON.parse(text);
  await nextTurn();
  return value;
}

/** Refuses a JSON text that has more than the bounds allow. Of a text that is not JSON it refuses no more. */
export function assertBounds(bytes: Uint8Array, bounds: JsonBounds, where?: Where): void {
  const scan = newJsonScan(bounds);
  if (bytes.length <= PIECE_BYTES) refuseExcess(scan(bytes), where);
  else for (const piece of cutPieces(bytes)) refuseExcess(scan(piece), where);
}

/** Refuses a JSON text that arrives in pieces, as soon as a piece shows that it has more than the bounds allow. */
export function newBoundsCheck(bounds: JsonBounds): (piece: Uint8Array) => void {
  const scan = newJsonScan(bounds);
  return (piece) => refuseExcess(scan(piece));
}

/** Resolves once the event loop has served the waiting events. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

function* cutPieces(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

/** The end of a sentence that gives the reason of a refusal. */
type Excess = string;

const EXCESSES: { readonly [bound in keyof JsonBounds]: (most: number) => Excess } = {
  depth: (most) => `must not nest deeper than ${most} levels`,
  membersOfObject: (most) => `must have at most ${most} members in one object; send a list where there are more`,
  values: (most) =>
    `has too many values; they must count at most ${most} together, ` +
    'a number, list or object 1, a string 5, the name of a member 7',
  nameBytes: (most) => `must have at most ${most} bytes in the names of its members`,
  escapes: (most) => `must have at most ${most} escapes in its strings; send such text in UTF-8`,
  plainBytes: (most) => `must have at most ${most} bytes outside of its strings; send it without spaces`,
};

/** The place of the JSON: a field, or something that has another name than the body. */
interface Where {
  readonly field?: string | undefined;
  readonly subject?: string | undefined;
}

function refuseExcess(excess: Excess | undefined, { field, subject = 'the body' }: Where = {}): void {
  if (excess === undefined) return;
  const message = field === undefined ? `${subject} ${excess}` : excess;
  throw new Problem({ kind: 'invalid', reason: 'invalid_json', field, message });
}

/** Counts the parts of a JSON text piece by piece. Returns the excess as soon as a bound is exceeded. */
type JsonScan = (piece: Uint8Array) => Excess | undefined;

function newJsonScan(bounds: JsonBounds): JsonScan {
  const text = newTextScan(bounds.escapes);
  /** The number of members so far, for each open object or list. */
  const members = [0];
  let [depth, values, nameBytes, plainBytes] = [0, 0, 0, 0];

  const count = (byte: number | undefined): keyof JsonBounds | undefined => {
    switch (byte) {
      case OPEN:
      case OPEN_LIST:
        depth += 1;
        values += 1;
        if (depth > bounds.depth) return 'depth';
        members[depth] = 0;
        break;
      case CLOSE:
      case CLOSE_LIST:
        depth = Math.max(0, depth - 1);
        break;
      case COLON:
        values += NAME_VALUES;
        nameBytes += text.length();
        members[depth] = (members[depth] ?? 0) + 1;
        if ((members[depth] ?? 0) > bounds.membersOfObject) return 'membersOfObject';
        if (nameBytes > bounds.nameBytes) return 'nameBytes';
        break;
      default:
        values += STRING_VALUES;
    }
    return values > bounds.values ? 'values' : undefined;
  };
  const scan = (piece: Uint8Array): keyof JsonBounds | undefined => {
    let at = text.isOpen() ? text.skip(piece, 0) : 0;
    plainBytes -= at;
    for (; at < piece.length; at += 1) {
      const byte = piece[at];
      if (!IS_COUNTED[byte ?? 0]) continue;
      if (byte === COMMA) {
        values += 1;
        continue;
      }
      const excess = count(byte);
      if (excess !== undefined) return excess;
      if (byte !== QUOTE) continue;
      const end = text.skip(piece, at + 1);
      plainBytes -= end - at;
      at = end - 1;
    }
    plainBytes += piece.length;
    if (values > bounds.values) return 'values';
    if (text.escapes() > bounds.escapes) return 'escapes';
    return plainBytes > bounds.plainBytes ? 'plainBytes' : undefined;
  };
  return (piece) => {
    const excess = scan(piece);
    return excess === undefined ? undefined : EXCESSES[excess](bounds[excess]);
  };
}

/** Skips strings, and counts their escapes. A string can continue in the next piece. */
interface TextScan {
  /** Returns the position after the end of the string that is open here, or the end of the piece. */
  skip(piece: Uint8Array, from: number): number;
  isOpen(): boolean;
  /** The bytes of the last string. */
  length(): number;
  escapes(): number;
}

/** A long string is crossed in jumps from one quote or backslash to the next. */
function newTextScan(escapesMax: number): TextScan {
  let [isOpen, isEscaped] = [false, false];
  let [length, escapes] = [0, 0];
  let scanned: Uint8Array | undefined;
  /** The next backslash of the piece. It is searched for once, and not again by each string before it. */
  let backslash = -1;

  const endOfString = (piece: Uint8Array, from: number): number => {
    let at = isEscaped ? from + 1 : from;
    let quote = -1;
    while (at < piece.length && escapes <= escapesMax) {
      const near = Math.min(piece.length, at + NEAR_BYTES);
      for (; at < near; at += 1) {
        const byte = piece[at];
        if (byte === QUOTE) {
          isOpen = false;
          return at + 1;
        }
        if (byte !== BACKSLASH) continue;
        escapes += 1;
        at += 1;
      }
      if (quote < at) quote = find(piece, QUOTE, at);
      if (backslash < at) backslash = find(piece, BACKSLASH, at);
      at = Math.max(at, Math.min(quote, backslash));
    }
    isEscaped = at > piece.length;
    return piece.length;
  };
  return {
    skip: (piece, from) => {
      if (piece !== scanned) [scanned, backslash] = [piece, -1];
      if (!isOpen) [isOpen, isEscaped, length] = [true, false, 0];
      const end = endOfString(piece, from);
      length += end - from;
      return end;
    },
    isOpen: () => isOpen,
    length: () => length,
    escapes: () => escapes,
  };
}

function find(piece: Uint8Array, byte: number, from: number): number {
  const at = piece.indexOf(byte, from);
  return at < 0 ? piece.length : at;
}
