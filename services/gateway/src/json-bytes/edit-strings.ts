import { isSpace } from './json-members.ts';

const [QUOTE, BACKSLASH, COMMA, COLON, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST] = [
  0x22, 0x5c, 0x2c, 0x3a, 0x7b, 0x7d, 0x5b, 0x5d,
];
const NOTHING: Buffer = Buffer.alloc(0);
/** A longer string passes as it is if it does not arrive in one piece. */
const HELD_BYTES_MAX = 4 * 1024 * 1024;
/** Stands for every name in a path. */
const ANY_NAME = '*';

/** Places in a JSON text. Some writers write names in another case, or without underscores; their places are the same. */
export interface Places<P> {
  readonly members: ReadonlyMap<string, Places<P>>;
  /** The places of names as texts write them, as far as they were met. */
  readonly met: Map<string, Places<P> | undefined>;
  readonly elements: Places<P> | undefined;
  /** Set if a string is expected here. */
  readonly place: P | undefined;
}

/** Builds the places of paths such as `input[].content[].file_id`. */
export function toPlaces<P extends { readonly path: string }>(list: readonly P[]): Places<P> {
  return buildPlaces(list.map((place) => ({ place, steps: place.path.match(/\[\]|[^.[\]]+/g) ?? [] })));
}

interface PathLeft<P> {
  readonly place: P;
  readonly steps: readonly string[];
}

function buildPlaces<P>(paths: readonly PathLeft<P>[]): Places<P> {
  const below = (step: string): Places<P> =>
    buildPlaces(
      paths.filter(({ steps }) => steps[0] === step).map(({ place, steps }) => ({ place, steps: steps.slice(1) })),
    );
  const steps = new Set(paths.flatMap(({ steps: [first] }) => first ?? []));
  const isList = steps.delete('[]');
  return {
    members: new Map([...steps].map((name) => [foldName(name), below(name)])),
    met: new Map(),
    elements: isList ? below('[]') : undefined,
    place: paths.find((path) => path.steps.length === 0)?.place,
  };
}

/** The upper case first: some letters beyond ASCII are the same as one of ASCII only there. */
function foldName(name: string): string {
  return name.toUpperCase().toLowerCase().replaceAll('_', '');
}

/** The edits of a text at its places. */
export interface StringEdits<P> {
  /**
   * Returns the string that replaces this one, or undefined to leave it. `value` is undefined if the value is not a
   * string. Its first bytes are `json`. `at` has the positions in the lists on the path.
   */
  edit(place: P, value: string | undefined, at: readonly number[], json: string): string | undefined;
  /** Called if an object names a place again, because two readers could read different values. */
  onTwice?(name: string): void;
}

/** Edits strings of a JSON text that arrives in pieces. No other byte changes. */
export interface StringEditor {
  take(piece: Buffer): Buffer;
  /** The bytes that are held back. */
  rest(): Buffer;
}

/** Edits strings of a whole JSON text. No other byte changes. A text that is not JSON can end the edits early. */
export function editStrings<P>(bytes: Buffer, places: Places<P>, edits: StringEdits<P>): Buffer {
  const editor = newStringEditor(places, edits);
  const edited = editor.take(bytes);
  const rest = editor.rest();
  return rest.length === 0 ? edited : Buffer.concat([edited, rest]);
}

/** A mark of JSON, between the strings and words. */
const MARKS: ReadonlySet<number> = new Set([COMMA, COLON, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST]);
const WORD_BYTES_MAX = 64;

export function newStringEditor<P>(places: Places<P>, edits: StringEdits<P>): StringEditor {
  const position = newPosition(places, edits);
  const text = newTextReader();
  let held = NOTHING;

  /** Reads the string that begins here. Returns undefined if its end has not come. */
  const readText = (bytes: Buffer, at: number, out: EditedBytes): number | undefined => {
    const [isName, place] = [position.expectsName(), position.place()];
    const isRead = isName || place !== undefined;
    const end = isRead ? text.findEnd(bytes, at + 1) : undefined;
    if (isRead && end === undefined && bytes.length - at <= HELD_BYTES_MAX) return undefined;
    if (end === undefined) {
      if (isName) position.name(undefined);
      text.open();
      return at + 1;
    }
    const quoted = bytes.toString('utf8', at, end);
    if (isName) position.name(quoted);
    else if (place !== undefined) {
      const edited = edits.edit(place, parseString(quoted), position.inLists(), quoted);
      if (edited !== undefined) out.replace(at, end, JSON.stringify(edited));
    }
    return end;
  };
  /** Reads a number or a word such as `null`. Returns undefined if its end has not come. */
  const readWord = (bytes: Buffer, at: number): number | undefined => {
    let end = at;
    while (end < bytes.length && !isSpace(bytes[end]) && !MARKS.has(bytes[end] ?? 0)) end += 1;
    if (end === bytes.length && end - at <= WORD_BYTES_MAX) return undefined;
    position.tell(bytes.toString('latin1', at, end));
    return end;
  };
  const readToken = (bytes: Buffer, at: number, out: EditedBytes): number | undefined => {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) return position.isInside() ? readText(bytes, at, out) : at + 1;
    if (MARKS.has(byte)) position.pass(byte);
    else if (!isSpace(byte) && position.place() !== undefined) return readWord(bytes, at);
    return at + 1;
  };
  return {
    take: (piece) => {
      const bytes = held.length === 0 ? piece : Buffer.concat([held, piece]);
      held = NOTHING;
      const out = newEditedBytes(bytes);
      let at = 0;
      while (at < bytes.length) {
        const next = text.isOpen() ? text.skip(bytes, at) : readToken(bytes, at, out);
        if (next === undefined) {
          held = bytes.subarray(at);
          break;
        }
        at = next;
      }
      return out.upTo(at);
    },
    rest: () => {
      const left = held;
      held = NOTHING;
      return left;
    },
  };
}

interface EditedBytes {
  replace(start: number, end: number, by: string): void;
  upTo(end: number): Buffer;
}

function newEditedBytes(bytes: Buffer): EditedBytes {
  const parts: Buffer[] = [];
  let copied = 0;
  return {
    replace: (start, end, by) => {
      parts.push(bytes.subarray(copied, start), Buffer.from(by));
      copied = end;
    },
    upTo: (end) => {
      if (copied > 0) return Buffer.concat([...parts, bytes.subarray(copied, end)]);
      return end === bytes.length ? bytes : bytes.subarray(0, end);
    },
  };
}

/** An object or a list that is open and has places. */
interface Frame<P> {
  readonly places: Places<P>;
  readonly isList: boolean;
  readonly named: Places<P>[];
  /** The position in a list. */
  index: number;
  expectsName: boolean;
  /** The places of the value that comes next. */
  next: Places<P> | undefined;
}

/** The position in a text, as far as there are places. */
interface Position<P> {
  isInside(): boolean;
  expectsName(): boolean;
  /** Returns the place of the next value; undefined if the value is not at a place. */
  place(): P | undefined;
  inLists(): readonly number[];
  /** Passes a mark. */
  pass(byte: number): void;
  /** Takes a name of an object in its quotes, undefined if it is too long. */
  name(quoted: string | undefined): void;
  /** Tells of a value at the place that is no string. */
  tell(json: string): void;
}

function newPosition<P>(places: Places<P>, edits: StringEdits<P>): Position<P> {
  const frames: Frame<P>[] = [];
  /** The depth in a value without places. */
  let skipped = 0;
  const top = (): Frame<P> | undefined => (skipped > 0 ? undefined : frames.at(-1));
  const place = (): P | undefined => {
    const frame = top();
    return frame?.expectsName === false ? frame.next?.place : undefined;
  };
  const inLists = (): readonly number[] => frames.filter(({ isList }) => isList).map(({ index }) => index);
  const tell = (json: string): void => {
    const here = place();
    if (here !== undefined) edits.edit(here, undefined, inLists(), json);
  };
  const enter = (isList: boolean): void => {
    // a list of objects is read as these objects
    if (isList && frames.length === 0) return;
    const inner = frames.length === 0 ? places : top()?.next;
    const hasPlaces = inner !== undefined && (isList ? inner.elements !== undefined : inner.members.size > 0);
    if (!hasPlaces) {
      tell(isList ? '[' : '{');
      skipped += 1;
      return;
    }
    frames.push({ places: inner, isList, named: [], index: 0, expectsName: !isList, next: inner.elements });
  };
  return {
    isInside: () => frames.length > 0,
    expectsName: () => top()?.expectsName === true,
    place,
    inLists,
    tell,
    pass: (byte) => {
      const frame = top();
      if (byte === OPEN || byte === OPEN_LIST) enter(byte === OPEN_LIST);
      else if (byte === COMMA && frame !== undefined) {
        frame.index += 1;
        frame.expectsName = !frame.isList;
      } else if (byte !== CLOSE && byte !== CLOSE_LIST) return;
      else if (skipped > 0) skipped -= 1;
      else frames.pop();
    },
    name: (quoted) => {
      const frame = top();
      if (frame === undefined) return;
      frame.expectsName = false;
      frame.next = quoted === undefined ? undefined : findMember(frame.places, parseString(quoted));
      if (quoted === undefined || frame.next === undefined) return;
      if (frame.named.includes(frame.next)) edits.onTwice?.(quoted);
      frame.named.push(frame.next);
    },
  };
}

/** Texts repeat the same few names, and folding a name takes longer than finding it. */
const [MET_NAMES_MAX, MET_LENGTH_MAX] = [256, 64];

function findMember<P>({ members, met }: Places<P>, name: string | undefined): Places<P> | undefined {
  if (name === undefined) return undefined;
  const known = met.get(name);
  if (known !== undefined || met.has(name)) return known;
  const found = members.get(foldName(name)) ?? members.get(ANY_NAME);
  if (met.size < MET_NAMES_MAX && name.length <= MET_LENGTH_MAX) met.set(name, found);
  return found;
}

function parseString(quoted: string): string | undefined {
  if (!quoted.includes('\\')) return quoted.slice(1, -1);
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}

/** Reads strings that can end in a later piece. */
interface TextReader {
  open(): void;
  isOpen(): boolean;
  /** Skips the open string. Returns the position after it, or after the bytes. */
  skip(bytes: Buffer, from: number): number;
  /** Returns the position after the string that begins here, or undefined if the bytes end before it. */
  findEnd(bytes: Buffer, from: number): number | undefined;
}

function newTextReader(): TextReader {
  let isOpen = false;
  /** True if the bytes before ended with an odd number of backslashes. */
  let isEscaped = false;
  const countsOdd = (bytes: Buffer, end: number, from: number, wasEscaped: boolean): boolean => {
    let at = end;
    while (at > from && bytes[at - 1] === BACKSLASH) at -= 1;
    const isOdd = (end - at) % 2 === 1;
    return at === from ? isOdd !== wasEscaped : isOdd;
  };
  const find = (bytes: Buffer, from: number, wasEscaped: boolean): number | undefined => {
    for (let quote = bytes.indexOf(QUOTE, from); quote >= 0; quote = bytes.indexOf(QUOTE, quote + 1))
      if (!countsOdd(bytes, quote, from, wasEscaped)) return quote + 1;
    return undefined;
  };
  return {
    open: () => {
      isOpen = true;
      isEscaped = false;
    },
    isOpen: () => isOpen,
    skip: (bytes, from) => {
      const end = find(bytes, from, isEscaped);
      if (end === undefined) {
        isEscaped = countsOdd(bytes, bytes.length, from, isEscaped);
        return bytes.length;
      }
      isOpen = false;
      return end;
    },
    findEnd: (bytes, from) => find(bytes, from, false),
  };
}
