import type { JsonPointer } from '../../domain/json-pointer.ts';
import { NAME_BYTES_MAX, newJsonPath } from './json-way.ts';

const [QUOTE, COMMA, COLON, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [0x22, 0x2c, 0x3a, 0x7b, 0x7d, 0x5b, 0x5d];
const SPACES: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const SCALAR_BYTES_MAX = 256;
const SCALAR = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
/** The bytes that end a number, `true`, `false` or `null`. */
const SCALAR_ENDS: ReadonlySet<number> = new Set([...SPACES, COMMA, COLON, CLOSE, CLOSE_LIST, OPEN, OPEN_LIST, QUOTE]);

/** The reasons for which a text is refused. */
export type WalkFault = 'no JSON' | 'no text there' | 'ambiguous';

type Place = 'value' | 'first element' | 'first name' | 'name' | 'colon' | 'comma' | 'end';

interface OpenText {
  readonly reader: TextReader;
  readonly use: 'name' | 'wanted' | 'other';
  /** The bytes of a name. */
  readonly raw: number[];
}

/** Reads a JSON text byte by byte, and hands out the string at a pointer. It holds a name or a number at most. */
interface JsonWalk {
  /** Reads the next byte. */
  step(byte: number): WalkFault | undefined;
  /** Counts the bytes from here on that belong to the wanted string and are unescaped. */
  countPlain(chunk: Buffer, from: number): number;
  /** True in the wanted string. */
  isInWanted(): boolean;
  /** The fault of a text that ends here. */
  end(): WalkFault | undefined;
}

/** `onByte` gets each byte of the wanted string that `countPlain` did not count, without its escapes. */
export function newJsonWalk(pointer: JsonPointer, onByte: (byte: number) => void): JsonWalk {
  const way = newJsonPath(pointer);
  let expected: Place = 'value';
  let text: OpenText | undefined;
  let scalar = '';
  let wasFound = false;

  /** Goes on if it may. */
  const expect = (next: Place | undefined, may = true): WalkFault | undefined => {
    if (next === undefined || !may) return 'no JSON';
    expected = next;
    return undefined;
  };
  const endValue = (may = true): WalkFault | undefined => expect(way.isEmpty() ? 'end' : 'comma', may);
  const beginText = (use: OpenText['use']): WalkFault | undefined => {
    text = { reader: newJsonTextReader(), use, raw: [] };
    return undefined;
  };
  const beginName = (byte: number): WalkFault | undefined => (byte === QUOTE ? beginText('name') : 'no JSON');
  const beginValue = (byte: number): WalkFault | undefined => {
    const isWanted = way.isAtEnd();
    if (isWanted && byte !== QUOTE) return 'no text there';
    if (byte === QUOTE) return beginText(isWanted ? 'wanted' : 'other');
    if (byte === OPEN) return expect('first name', way.open(false));
    if (byte === OPEN_LIST) return expect('first element', way.open(true));
    scalar = String.fromCharCode(byte);
    return SCALAR_ENDS.has(byte) ? 'no JSON' : undefined;
  };
  const endText = ({ use, raw }: OpenText): WalkFault | undefined => {
    text = undefined;
    if (use === 'name') return way.name(raw) ? expect('colon') : 'ambiguous';
    wasFound ||= use === 'wanted';
    return endValue();
  };
  const stepText = (open: OpenText, byte: number): WalkFault | undefined => {
    const said = open.reader.step(byte);
    if (said === 'wrong') return 'no JSON';
    if (said === 'end') return endText(open);
    if (open.use === 'name' && open.raw.length <= NAME_BYTES_MAX) open.raw.push(byte);
    if (open.use === 'wanted' && said !== undefined) onByte(said);
    return undefined;
  };
  const endScalar = (): WalkFault | undefined => {
    const isKnown = SCALAR.test(scalar);
    scalar = '';
    return endValue(isKnown);
  };
  const steps: Readonly<Record<Place, (byte: number) => WalkFault | undefined>> = {
    value: beginValue,
    'first element': (byte) => (byte === CLOSE_LIST ? endValue(way.close(true)) : beginValue(byte)),
    'first name': (byte) => (byte === CLOSE ? endValue(way.close(false)) : beginName(byte)),
    name: beginName,
    colon: (byte) => expect('value', byte === COLON),
    comma: (byte) => {
      if (byte === COMMA) return expect(way.next());
      return byte === CLOSE || byte === CLOSE_LIST ? endValue(way.close(byte === CLOSE_LIST)) : 'no JSON';
    },
    end: () => 'no JSON',
  };
  const stepAround = (byte: number): WalkFault | undefined => (SPACES.has(byte) ? undefined : steps[expected](byte));
  return {
    step: (byte) => {
      if (text !== undefined) return stepText(text, byte);
      if (scalar === '') return stepAround(byte);
      if (SCALAR_ENDS.has(byte)) return endScalar() ?? stepAround(byte);
      scalar += String.fromCharCode(byte);
      return scalar.length > SCALAR_BYTES_MAX ? 'no JSON' : undefined;
    },
    countPlain: (chunk, from) => (text?.use === 'wanted' ? text.reader.countPlain(chunk, from) : 0),
    isInWanted: () => text?.use === 'wanted',
    end: () => {
      const fault = scalar === '' ? undefined : endScalar();
      if (fault !== undefined || expected !== 'end') return 'no JSON';
      return wasFound ? undefined : 'no text there';
    },
  };
}

const [BACKSLASH, LETTER_U, SPACE, LAST_ASCII] = [0x5c, 0x75, 0x20, 0x7f];
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
type TextStep = 'end' | 'wrong' | number | undefined;

/** Reads a JSON string after its first quote, byte by byte. */
interface TextReader {
  step(byte: number): TextStep;
  /** Counts the bytes from here on that are unescaped: up to a quote, an escape or the end of the chunk. */
  countPlain(chunk: Buffer, from: number): number;
}

function newJsonTextReader(): TextReader {
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
