import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy } from '@fastify/busboy';
import type { Problem } from '@reelgate/platform/problem';
import { readBodyType, waitForDrain } from './read-body.ts';
import { receiveBody, tooLarge } from './receive-body.ts';
import type { ReceiveOptions } from './receive-body.ts';
import { isPacked } from './unpack-body.ts';
import type { Sink } from './unpack-body.ts';
import { refuse } from '../../refusals.ts';

const LIMITS = { fieldNameSize: 100, fieldSize: 1024, fields: 8, files: 1, parts: 9, headerPairs: 50 };
const FILE_FIELD = 'file';
/** The parts of a form apart from the bytes of its file. */
const FORM_BYTES_MAX = 64 * 1024;
/** The memory that a streamed file of any size takes here: the buffers of the two connections and the parser. */
const STREAM_BYTES = 512 * 1024;

/** The fields of a form, and the name of its file as the client sent it. */
export interface FileForm {
  readonly fields: ReadonlyMap<string, string>;
  readonly filename: string;
}

export interface FileFormOptions extends ReceiveOptions {
  /** Called with each field as it arrives, which may be before or after the file. Throws a Problem to refuse it. */
  readonly assertField: (name: string, value: string) => void;
  /** Takes the bytes of the file. Its rejection ends the form. */
  readonly takeFile: (bytes: Readable) => Promise<void>;
}

/** The size of a file in a form that declares its length, or a little more. */
export function readFileBytes(headers: IncomingHttpHeaders): number | undefined {
  if (isPacked(headers)) return undefined;
  const declared = Number(headers['content-length'] ?? Number.NaN);
  return Number.isSafeInteger(declared) ? declared : undefined;
}

/** Refuses a body that is no form, before it is read. */
export function assertForm(headers: IncomingHttpHeaders): void {
  if (readBodyType(headers, true) === 'form') return;
  throw refuse('unsupported_media_type', { message: 'content-type must be multipart/form-data' });
}

/**
 * Reads a form with one file. The bytes of the file are passed on as they arrive and never held whole. Resolves when
 * `takeFile` has resolved. The rest of a refused form stays unread.
 */
export async function receiveFileForm(request: IncomingMessage, options: FileFormOptions): Promise<FileForm> {
  const { bytesMax } = options;
  if ((readFileBytes(request.headers) ?? 0) > bytesMax + FORM_BYTES_MAX) throw tooLarge(bytesMax);
  const reader = readForm(request.headers, options);
  const receiving = { ...options, bytesMax: bytesMax + FORM_BYTES_MAX, heldMax: STREAM_BYTES };
  try {
    await receiveBody(request, receiving, reader.write);
    return await reader.end();
  } catch (error) {
    reader.stop(error);
    throw error;
  }
}

interface FormReader {
  /** Resolves when the next chunk can come. */
  readonly write: Sink;
  end(): Promise<FileForm>;
  /** Ends the file that is being taken. */
  stop(error: unknown): void;
}

function readForm(headers: IncomingHttpHeaders, { assertField, takeFile }: FileFormOptions): FormReader {
  const parser = newParser(headers);
  const failed = Promise.withResolvers<never>();
  let failure: { readonly error: unknown } | undefined;
  // the fault is thrown by the next call, or by the one that waits for it
  failed.promise.catch((error: unknown) => {
    failure = { error };
  });
  const finished = new Promise<void>((resolve) => parser.once('finish', resolve));
  const fields = new Map<string, string>();
  // a part without a file name is a file too, if its field says so
  let taken:
    { readonly filename: string | undefined; readonly bytes: Readable; readonly done: Promise<void> } | undefined;

  parser.on('field', (name, value, isNameCut, isValueCut) => {
    if (isNameCut || isValueCut) failed.reject(invalidForm('the form has a field that is too long'));
    else if (fields.has(name)) failed.reject(invalidForm(`the form has the field ${name} twice`));
    else {
      fields.set(name, value);
      try {
        assertField(name, value);
      } catch (error) {
        failed.reject(error);
      }
    }
  });
  parser.on('file', (...[name, bytes, filename]) => {
    bytes.on('error', () => failed.reject(invalidForm('the form ends inside a file')));
    if (name !== FILE_FIELD) {
      bytes.resume();
      failed.reject(invalidForm('the form must have its file in the field file'));
      return;
    }
    const done = takeFile(bytes);
    done.catch((error: unknown) => failed.reject(error));
    taken = { filename, bytes, done };
  });
  for (const bound of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
    parser.on(bound, () =>
      failed.reject(invalidForm(`the form must have one file and at most ${LIMITS.fields} fields`)),
    );
  parser.once('error', (error: unknown) =>
    failed.reject(invalidForm(`the form is malformed${error instanceof Error ? `: ${error.message}` : ''}`)),
  );

  return {
    write: (chunk) => {
      if (failure !== undefined) throw failure.error;
      return parser.write(chunk) ? undefined : waitForDrain(parser, Promise.race([finished, failed.promise]));
    },
    end: async () => {
      parser.end();
      await Promise.race([finished, failed.promise]);
      if (taken === undefined) throw refuse('invalid_request', { field: FILE_FIELD, message: 'is required' });
      await Promise.race([taken.done, failed.promise]);
      return { fields, filename: taken.filename ?? '' };
    },
    stop: (error) => {
      taken?.bytes.destroy(error instanceof Error ? error : undefined);
    },
  };
}

function newParser(headers: IncomingHttpHeaders): InstanceType<typeof Busboy> {
  try {
    return new Busboy({
      headers: { ...headers, 'content-type': headers['content-type'] ?? '' },
      limits: LIMITS,
      isPartAFile: (name: string | undefined, _type: string | undefined, filename: string | undefined) =>
        name === FILE_FIELD || filename !== undefined,
    });
  } catch {
    throw invalidForm('the content-type of the form must have a boundary');
  }
}

function invalidForm(message: string): Problem {
  return refuse('invalid_request', { message });
}
