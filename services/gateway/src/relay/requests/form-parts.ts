const PARTS_MAX = 504;
const HEAD_BYTES_MAX = 16 * 1024;
/** A longer field is not read. */
const VALUE_BYTES_MAX = 1024 * 1024;
const LINE_BREAK = '\r\n';
const [SPACE, TAB] = [0x20, 0x09];
const HEAD_END = Buffer.from('\r\n\r\n');

/** A part of a multipart body, with the position of its content. */
export interface FormPart {
  readonly name: string;
  readonly isFile: boolean;
  readonly start: number;
  readonly end: number;
}

/** Returns the boundary in a content-type, or undefined if it has none. */
export function readBoundary(contentType: string): string | undefined {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,200})"|([^;\s]{1,200}))/i.exec(contentType) ?? [];
  return quoted ?? plain;
}

/**
 * Finds the parts of a multipart body. Returns undefined if the body is malformed. A relayed form goes on byte for byte,
 * so the positions of its parts are needed; the library that reads the forms of creates gives values without them.
 */
export function parseFormParts(bytes: Buffer, boundary: string): readonly FormPart[] | undefined {
  const delimiter = Buffer.from(`${LINE_BREAK}--${boundary}`);
  const parts: FormPart[] = [];
  let line = findDelimiterLine(bytes, delimiter, 0);
  while (line !== undefined && parts.length <= PARTS_MAX) {
    if (line.isLast) return parts;
    const headEnd = bytes.indexOf(HEAD_END, line.end);
    const next =
      headEnd < 0 || headEnd - line.end > HEAD_BYTES_MAX ? undefined : findDelimiterLine(bytes, delimiter, headEnd + 2);
    const part =
      next === undefined
        ? undefined
        : parsePart(bytes.toString('utf8', line.end, headEnd), headEnd + HEAD_END.length, next.start - 2);
    if (part === undefined) return undefined;
    parts.push(part);
    line = next;
  }
  return undefined;
}

/** A line of content seldom begins with the delimiter, because clients draw their boundary by chance. */
const FALSE_DELIMITERS_MAX = 100;

/**
 * Finds the next delimiter line, up to its line break. A line that only begins with the delimiter is content. A form
 * with many such lines counts as malformed.
 */
function findDelimiterLine(
  bytes: Buffer,
  delimiter: Buffer,
  from: number,
): { readonly start: number; readonly end: number; readonly isLast: boolean } | undefined {
  const bare = delimiter.subarray(LINE_BREAK.length);
  // the first line of a body has no line break before it
  let start = from === 0 && bytes.subarray(0, bare.length).equals(bare) ? 0 : findLineStart(bytes, delimiter, from);
  for (let tried = 0; start >= 0 && tried < FALSE_DELIMITERS_MAX; tried += 1) {
    const behind = start + bare.length;
    if (bytes.toString('latin1', behind, behind + 2) === '--') return { start, end: behind + 2, isLast: true };
    let end = behind;
    while (bytes[end] === SPACE || bytes[end] === TAB) end += 1;
    if (bytes.toString('latin1', end, end + 2) === LINE_BREAK) return { start, end, isLast: false };
    start = findLineStart(bytes, delimiter, behind);
  }
  return undefined;
}

/** Returns the position after the line break of the next delimiter, negative if there is none. */
function findLineStart(bytes: Buffer, delimiter: Buffer, from: number): number {
  const at = bytes.indexOf(delimiter, from);
  return at < 0 ? at : at + LINE_BREAK.length;
}

/** Reads the text fields of a form. The last field of a name counts. */
export function readTextFields(bytes: Buffer, parts: readonly FormPart[]): ReadonlyMap<string, string> {
  const fields = parts.filter(({ isFile, start, end }) => !isFile && end - start <= VALUE_BYTES_MAX);
  return new Map(fields.map(({ name, start, end }) => [name, bytes.toString('utf8', start, end)]));
}

/** Replaces the text of every field with this name. No other byte changes. */
export function setFormField(
  bytes: Buffer,
  parts: readonly FormPart[],
  { name, value }: { readonly name: string; readonly value: string },
): Buffer {
  const pieces: Buffer[] = [];
  let copied = 0;
  for (const part of parts.filter((one) => one.name === name && !one.isFile)) {
    pieces.push(bytes.subarray(copied, part.start), Buffer.from(value));
    copied = part.end;
  }
  return Buffer.concat([...pieces, bytes.subarray(copied)]);
}

function parsePart(head: string, start: number, end: number): FormPart | undefined {
  const disposition = /^content-disposition:\s*form-data\s*;(.*)$/im.exec(head)?.[1];
  const name = disposition === undefined ? undefined : readParameter(disposition, 'name');
  return name === undefined || disposition === undefined
    ? undefined
    : { name, isFile: /(^|;)\s*filename\*?=/i.test(disposition), start, end: Math.max(start, end) };
}

function readParameter(disposition: string, name: string): string | undefined {
  const [, quoted, plain] =
    new RegExp(`(?:^|;)\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]*))`, 'i').exec(disposition) ?? [];
  return quoted?.replace(/\\(.)/g, '$1') ?? plain;
}
