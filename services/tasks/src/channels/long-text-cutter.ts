import { CUT_TEXT } from '@reelgate/adapter-kit/kit';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
const SPACE = 0x20;
const HEX_DIGITS = 4;
const HEX: ReadonlySet<number> = new Set(Buffer.from('0123456789abcdefABCDEF'));
/** The bytes that may follow a backslash. */
const ESCAPES: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrtu'));
const MARK = Buffer.from(CUT_TEXT);

/** Cuts the long texts out of JSON while it arrives, so that no more than the rest of it is ever in memory. */
export interface LongTextCutter {
  /** Takes the next bytes. Returns the number of bytes that are kept so far. */
  take(chunk: Buffer): number;
  /**
   * Returns the JSON with `CUT_TEXT` in place of each long text. Returns undefined if a text in it is no text of JSON.
   * The rest is kept, so a parser refuses it as it refuses the whole.
   */
  finish(): string | undefined;
}

/** A text is long if more than `textBytesMax` bytes are between its quotes. The bytes of an escape count as written. */
export function newLongTextCutter(textBytesMax: number): LongTextCutter {
  const kept = newByteList(textBytesMax);
  const scan = newTextScan();
  let isInText = false;
  /** The place of the text among the kept bytes, and its bytes so far. */
  let [textStart, textBytes] = [0, 0];

  /** Takes bytes of a text up to `end`. Returns the position up to which the chunk was taken. */
  const takeText = (
    chunk: Buffer,
    { from, end, taken }: Readonly<Record<'from' | 'end' | 'taken', number>>,
  ): number => {
    const wasLong = textBytes > textBytesMax;
    textBytes += end - from;
    if (textBytes <= textBytesMax) return taken;
    if (!wasLong) {
      kept.add(chunk.subarray(taken, end));
      kept.cutTo(textStart);
      kept.add(MARK);
    }
    return end;
  };
  return {
    take: (chunk) => {
      let taken = 0;
      for (let at = 0; at < chunk.length; at += 1) {
        const quote = isInText ? scan.findEnd(chunk, at) : findQuote(chunk, at);
        if (isInText) taken = takeText(chunk, { from: at, end: quote, taken });
        else [textStart, textBytes] = [kept.length() + quote + 1 - taken, 0];
        if (quote < chunk.length) isInText = !isInText;
        at = quote;
      }
      kept.add(chunk.subarray(taken));
      return kept.length();
    },
    finish: () => (scan.isMalformed() ? undefined : kept.toText()),
  };
}

/** Returns the length of the chunk if no quote follows. */
function findQuote(chunk: Buffer, from: number): number {
  const quote = chunk.indexOf(QUOTE, from);
  return quote === -1 ? chunk.length : quote;
}

/** Finds the ends of texts, and checks their content. */
interface TextScan {
  /** Returns the position of the quote that ends the text; the length of the chunk if the text goes on. */
  findEnd(chunk: Buffer, from: number): number;
  isMalformed(): boolean;
}

function newTextScan(): TextScan {
  let isInEscape = false;
  let hexLeft = 0;
  let isMalformed = false;
  const stepEscape = (byte: number): void => {
    isMalformed ||= !(hexLeft > 0 ? HEX : ESCAPES).has(byte);
    hexLeft = hexLeft > 0 ? hexLeft - 1 : byte === LETTER_U ? HEX_DIGITS : 0;
    isInEscape = hexLeft > 0;
  };
  return {
    findEnd: (chunk, from) => {
      for (let at = from; at < chunk.length; at += 1) {
        const byte = chunk[at] ?? 0;
        if (isInEscape) stepEscape(byte);
        else if (byte === QUOTE) return at;
        else if (byte === BACKSLASH) isInEscape = true;
        else if (byte < SPACE) isMalformed = true;
      }
      return chunk.length;
    },
    isMalformed: () => isMalformed,
  };
}

/** Bytes in one block of memory, because a part of a chunk would keep the whole chunk in memory. */
interface ByteList {
  add(bytes: Buffer): void;
  cutTo(length: number): void;
  length(): number;
  toText(): string;
}

function newByteList(capacity: number): ByteList {
  let block = Buffer.allocUnsafe(capacity);
  let length = 0;
  return {
    add: (bytes) => {
      if (length + bytes.length > block.length) {
        const larger = Buffer.allocUnsafe(2 * (length + bytes.length));
        block.copy(larger, 0, 0, length);
        block = larger;
      }
      bytes.copy(block, length);
      length += bytes.length;
    },
    cutTo: (shorter) => {
      length = shorter;
    },
    length: () => length,
    toText: () => block.toString('utf8', 0, length),
  };
}
