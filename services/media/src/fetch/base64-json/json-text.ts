const [QUOTE, BACKSLASH, LETTER_U, SPACE, LAST_ASCII] = [0x22, 0x5c, 0x75, 0x20, 0x7f];
const HEX_DIGITS = 4;
/** The byte of each short escape, by its letter. */
const ESCAPES: ReadonlyMap<number, number> = new Map(
  Object.entries({ '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }).map(
    ([letter, meant]) => [letter.charCodeAt(0), meant.charCodeAt(0)],
  ),
);
/** Stands for a character that is not ASCII. */
const OTHER_CHARACTER = 0xff;

/** The end of a text, or a byte of it. Undefined inside an escape, and `wrong` if JSON has no such text. */
export type TextStep = 'end' | 'wrong' | number | undefined;

/** Reads a JSON string after its first quote, byte by byte. */
export interface TextReader {
  step(byte: number): TextStep;
  /** Counts the bytes from here on that are unescaped: up to a quote, an escape or the end of the chunk. */
  countPlain(chunk: Buffer, from: number): number;
}

export function newJsonTextReader(): TextReader {
  let isEscape = false;
  let hexLeft = 0;
  let unit = 0;

  const takeHex = (byte: number): TextStep => {
    const digit = Number.parseInt(String.fromCharCode(byte), 16);
    if (Number.isNaN(digit)) return 'wrong';
    unit = unit * 16 + digit;
    hexLeft -= 1;
    if (hexLeft > 0) return undefined;
    return unit > LAST_ASCII ? OTHER_CHARACTER : unit;
  };
  const takeEscape = (byte: number): TextStep => {
    isEscape = false;
    if (byte !== LETTER_U) return ESCAPES.get(byte) ?? 'wrong';
    [hexLeft, unit] = [HEX_DIGITS, 0];
    return undefined;
  };
  return {
    step: (byte) => {
      if (hexLeft > 0) return takeHex(byte);
      if (isEscape) return takeEscape(byte);
      if (byte === QUOTE) return 'end';
      if (byte < SPACE) return 'wrong';
      isEscape = byte === BACKSLASH;
      return isEscape ? undefined : byte;
    },
    countPlain: (chunk, from) => {
      if (isEscape || hexLeft > 0) return 0;
      let at = from;
      while (at < chunk.length && isPlain(chunk[at] ?? QUOTE)) at += 1;
      return at - from;
    },
  };
}

function isPlain(byte: number): boolean {
  return byte !== QUOTE && byte !== BACKSLASH && byte >= SPACE;
}
