import type { IncomingHttpHeaders } from 'node:http';
import { Busboy } from '@fastify/busboy';
import { Problem } from '@reelgate/platform/problem';
import type { Form, FormFile } from '../../dialects/dialect.ts';
import type { Sink } from './receive-body.ts';

const LIMITS = { fieldNameSize: 200, fields: 500, files: 4, parts: 504, headerPairs: 50 };

type Parser = InstanceType<typeof Busboy>;

const FILE_TYPES = /^(application\/octet-stream|image\/.*|video\/.*|audio\/.*)$/i;

/** A part without a file name is a file if its media type is that of a file. */
function isPartAFile(_name: string | undefined, mediaType: string | undefined, fileName: string | undefined): boolean {
  return fileName !== undefined || FILE_TYPES.test(mediaType ?? '');
}

/** Parses a multipart body as it arrives. It keeps the bytes of the files without copying them. */
export function multipartParser(
  headers: IncomingHttpHeaders,
  bytesMax: number,
): { readonly sink: Sink; end(): Promise<Form> } {
  const parser = newParser(headers, bytesMax);
  let fault: Problem | undefined;
  const refuse = (message: string): void => {
    fault ??= invalidForm(message);
  };
  const assertValid = (): void => {
    if (fault !== undefined) throw fault;
  };
  const fields = collectFields(parser, refuse);
  const files = collectFiles(parser, refuse);
  const finished = waitForEnd(parser, refuse);
  return {
    sink: async (chunk) => {
      assertValid();
      if (!parser.write(chunk)) await Promise.race([new Promise((resolve) => parser.once('drain', resolve)), finished]);
    },
    end: async () => {
      // the parser of a refused form never finishes, so waiting for it would hang
      assertValid();
      parser.end();
      await finished;
      assertValid();
      return { fields, files };
    },
  };
}

function collectFields(parser: Parser, refuse: (message: string) => void): Form['fields'] {
  const fields: (readonly [string, string])[] = [];
  parser.on('field', (name, value, nameTruncated, valueTruncated) => {
    if (nameTruncated || valueTruncated) refuse('the form has a field that is too long');
    fields.push([name, value]);
  });
  return fields;
}

/** A file field without a name and without bytes is not a file. */
function collectFiles(parser: Parser, refuse: (message: string) => void): Form['files'] {
  const files: FormFile[] = [];
  parser.on('file', (...[name, stream, fileName, , mediaType]) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', () => {
      refuse('the form ends inside a file');
    });
    stream.on('end', () => {
      if (chunks.length > 0 || ((fileName as string | undefined) ?? '') !== '') files.push({ name, mediaType, chunks });
    });
  });
  return files;
}

function waitForEnd(parser: Parser, refuse: (message: string) => void): Promise<void> {
  for (const bound of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
    parser.on(bound, () => {
      refuse(`the form must have at most ${LIMITS.fields} fields and ${LIMITS.files} files`);
    });
  }
  return new Promise((resolve) => {
    parser.once('finish', resolve);
    parser.once('error', (error: unknown) => {
      refuse(`the form is malformed${error instanceof Error ? `: ${error.message}` : ''}`);
      resolve();
    });
  });
}

function newParser(headers: IncomingHttpHeaders, bytesMax: number): Parser {
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
      limits: { ...LIMITS, fieldSize: bytesMax, fileSize: bytesMax },
      isPartAFile,
    });
  } catch {
    throw invalidForm('the content-type of the form must have a boundary');
  }
}

function invalidForm(message: string): Problem {
  return new Problem({ kind: 'invalid', reason: 'invalid_request', message });
}
