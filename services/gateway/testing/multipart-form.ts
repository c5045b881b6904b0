/** A part of a multipart form. */
export interface FormPart {
  readonly name: string;
  readonly content: string | Buffer;
  /** Set for a file. */
  readonly fileName?: string | undefined;
  readonly type?: string | undefined;
}

/** The bytes of a whole form. */
export function formBody(boundary: string, parts: readonly FormPart[]): Buffer {
  return Buffer.concat([...parts.map((part) => formPart(boundary, part)), Buffer.from(`--${boundary}--\r\n`)]);
}

/** The bytes of one part, with its delimiter line. */
export function formPart(boundary: string, { name, content, fileName, type }: FormPart): Buffer {
  const file = fileName === undefined ? '' : `; filename="${fileName}"`;
  const contentType = type === undefined ? '' : `Content-Type: ${type}\r\n`;
  return Buffer.concat([
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${contentType}\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
}
