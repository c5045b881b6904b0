const PARTS_MAX = 504;
const HEAD_BYTES_MAX = 16 * 1024;
/** A longer value of a field is no setting that anybody reads here. */
const VALUE_BYTES_MAX = 1024 * 1024;
const HEAD_END = Buffer.from('\r\n\r\n');

/** A part of a multipart body and where its content stands in it. */
export interface FormPart {
  readonly name: string;
  readonly isFile: boolean;
  readonly start: number;
  readonly end: number;
}

/** The boundary that a content-type names. */
export function boundaryOf(contentType: string): string | undefined {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,200})"|([^;\s]{1,200}))/i.exec(contentType) ?? [];
  return quoted ?? plain;
}

/** The parts of a multipart body; undefined when it is none. */
export function formPartsOf(bytes: Buffer, boundary: string): readonly FormPart[] | undefined {
  const delimiter = Buffer.from(`--${boundary}`);
  const parts: FormPart[] = [];
  let at = bytes.indexOf(delimiter);
  if (at !== 0 && (at < 2 || bytes.toString('latin1', at - 2, at) !== '\r\n')) return undefined;
  while (parts.length <= PARTS_MAX) {
    const head = at + delimiter.length;
    if (bytes.toString('latin1', head, head + 2) === '--') return parts;
    const headEnd = bytes.indexOf(HEAD_END, head);
    const end = bytes.indexOf(`\r\n--${boundary}`, Math.max(headEnd + 2, head));
    if (headEnd < 0 || end < 0 || headEnd - head > HEAD_BYTES_MAX) return undefined;
    const part = partOf(bytes.toString('utf8', head, headEnd), headEnd + HEAD_END.length, end);
    if (part === undefined) return undefined;
    parts.push(part);
    at = end + 2;
  }
  return undefined;
}

/** The text fields of a form. Where a name stands more than once, the last one counts. */
export function fieldsOf(bytes: Buffer, parts: readonly FormPart[]): ReadonlyMap<string, string> {
  const fields = parts.filter(({ isFile, start, end }) => !isFile && end - start <= VALUE_BYTES_MAX);
  return new Map(fields.map(({ name, start, end }) => [name, bytes.toString('utf8', start, end)]));
}

/** The form with this text in every field of this name; no other byte is changed. */
export function withField(bytes: Buffer, parts: readonly FormPart[], { name, value }: { readonly name: string; readonly value: string }): Buffer {
  const pieces: Buffer[] = [];
  let copied = 0;
  for (const part of parts.filter((one) => one.name === name && !one.isFile)) {
    pieces.push(bytes.subarray(copied, part.start), Buffer.from(value));
    copied = part.end;
  }
  return Buffer.concat([...pieces, bytes.subarray(copied)]);
}

function partOf(head: string, start: number, end: number): FormPart | undefined {
  const disposition = /^content-disposition:\s*form-data\s*;(.*)$/im.exec(head)?.[1];
  const name = disposition === undefined ? undefined : parameterOf(disposition, 'name');
  return name === undefined || disposition === undefined ? undefined : { name, isFile: /(^|;)\s*filename\*?=/i.test(disposition), start, end: Math.max(start, end) };
}

function parameterOf(disposition: string, name: string): string | undefined {
  const [, quoted, plain] = new RegExp(`(?:^|;)\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]*))`, 'i').exec(disposition) ?? [];
  return quoted?.replace(/\\(.)/g, '$1') ?? plain;
}
