/** The deepest nesting of a JSON text. No contract comes near it. */
export const JSON_DEPTH_MAX = 64;

/** A JSON value as it was written: members in their order and with repetitions, numbers as text. */
export type JsonTree =
  | { readonly is: 'object'; readonly members: readonly JsonMember[] }
  | { readonly is: 'list'; readonly items: readonly JsonTree[] }
  | { readonly is: 'string'; readonly value: string }
  | { readonly is: 'number'; readonly written: string }
  | { readonly is: 'boolean' | 'null' };

export type JsonMember = readonly [name: string, value: JsonTree];

/** The text is not JSON. The message says what is wrong, and where. */
export class JsonFault extends Error {}

interface Cursor {
  readonly text: string;
  at: number;
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\n\r]*/y;
const CONTROL = /[\u0000-\u001f]/;
const WORDS: readonly (readonly [string, JsonTree])[] = [
  ['true', { is: 'boolean' }],
  ['false', { is: 'boolean' }],
  ['null', { is: 'null' }],
];

/** Reads a JSON text. Throws a JsonFault. */
export function readJsonTree(text: string): JsonTree {
  const reading: Cursor = { text, at: 0 };
  skipSpace(reading);
  if (reading.at === text.length) throw new JsonFault('the body is empty; send {} for a request without fields');
  const tree = readValue(reading, 1);
  skipSpace(reading);
  if (reading.at < text.length) throw faultAt(reading, 'expected the end of the body');
  return tree;
}

function readValue(reading: Cursor, depth: number): JsonTree {
  if (depth > JSON_DEPTH_MAX) throw faultAt(reading, `expected at most ${JSON_DEPTH_MAX} levels`);
  switch (reading.text[reading.at]) {
    case '{':
      return readObject(reading, depth);
    case '[':
      return readList(reading, depth);
    case '"':
      return { is: 'string', value: readText(reading) };
    default:
      return readWord(reading);
  }
}

function readObject(reading: Cursor, depth: number): JsonTree {
  const members: JsonMember[] = [];
  readItems(reading, '}', () => {
    if (reading.text[reading.at] !== '"') throw faultAt(reading, 'expected a name in double quotes');
    const name = readText(reading);
    skipSpace(reading);
    if (reading.text[reading.at] !== ':') throw faultAt(reading, 'expected ":"');
    reading.at += 1;
    skipSpace(reading);
    members.push([name, readValue(reading, depth + 1)]);
  });
  return { is: 'object', members };
}

function readList(reading: Cursor, depth: number): JsonTree {
  const items: JsonTree[] = [];
  readItems(reading, ']', () => {
    items.push(readValue(reading, depth + 1));
  });
  return { is: 'list', items };
}

/** Reads what stands between two brackets, with commas between the items. */
function readItems(reading: Cursor, end: string, readItem: () => void): void {
  reading.at += 1;
  skipSpace(reading);
  if (reading.text[reading.at] === end) {
    reading.at += 1;
    return;
  }
  for (;;) {
    skipSpace(reading);
    readItem();
    skipSpace(reading);
    const next = reading.text[reading.at];
    if (next !== ',' && next !== end) throw faultAt(reading, `expected "," or "${end}"`);
    reading.at += 1;
    if (next === end) return;
  }
}

function readText(reading: Cursor): string {
  const { text, at: open } = reading;
  const close = findTextEnd(text, open);
  if (close === -1) throw faultAt(reading, 'expected the end of a string');
  const inner = text.slice(open + 1, close);
  const control = CONTROL.exec(inner);
  if (control !== null) {
    reading.at = open + 1 + control.index;
    throw faultAt(reading, 'expected no control character in a string; write it as an escape');
  }
  if (inner.includes('\\')) return unescape(reading, close);
  reading.at = close + 1;
  return inner;
}

/** The quotation mark that ends a string; -1: there is none. */
function findTextEnd(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return -1;
}

function unescape(reading: Cursor, close: number): string {
  const { text, at: open } = reading;
  try {
    const value = JSON.parse(text.slice(open, close + 1)) as string;
    reading.at = close + 1;
    return value;
  } catch {
    throw faultAt(reading, 'expected a string whose escapes JSON knows');
  }
}

function readWord(reading: Cursor): JsonTree {
  for (const [word, tree] of WORDS)
    if (reading.text.startsWith(word, reading.at)) {
      reading.at += word.length;
      return tree;
    }
  NUMBER.lastIndex = reading.at;
  const written = NUMBER.exec(reading.text)?.[0];
  if (written === undefined) throw faultAt(reading, 'expected a value');
  reading.at += written.length;
  return { is: 'number', written };
}

function skipSpace(reading: Cursor): void {
  SPACE.lastIndex = reading.at;
  SPACE.exec(reading.text);
  reading.at = SPACE.lastIndex;
}

function faultAt({ text, at }: Cursor, expected: string): JsonFault {
  let [line, lineStart] = [1, 0];
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', lineStart))
    [line, lineStart] = [line + 1, end + 1];
  const column = at - lineStart + 1;
  return new JsonFault(`the body is not JSON at line ${line}, column ${column}: ${expected}`);
}
