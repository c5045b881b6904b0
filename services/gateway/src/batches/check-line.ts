import { createHash } from 'node:crypto';
import { describeRightField } from '../dialects/wire/unknown-fields.ts';
import { SMALL_JSON, parseBoundedJson } from '@reelgate/platform/bounded-json';
import { Problem } from '@reelgate/platform/problem';
import type { BatchFault, BatchLineInput } from '@reelgate/proto/tasks/v1/batch';
import type { Models } from '../domain/model-defaults.ts';
import { newFault } from './batch-endpoints.ts';
import type { BatchEndpoint } from './batch-endpoints.ts';

const BATCH_LINES_MAX = 50_000;
export const LINE_BYTES_MAX = 256 * 1024;
export const BATCH_FAULTS_MAX = 20;
const CUSTOM_ID_MAX = 512;
const MODEL_CHARACTERS_MAX = 256;
const SHOWN_CHARACTERS_MAX = 64;
/** The members of a line. */
const LINE_FIELDS: readonly string[] = ['custom_id', 'method', 'url', 'body'];
const DIGEST_LENGTH = 22;
const METHOD = 'POST';

/** Checks the lines of a file one after the other. It keeps a short digest of each `custom_id`. */
export interface LineChecker {
  /** The line as it is stored; undefined: it is empty, or the file is at fault. */
  check(line: FileLine): BatchLineInput | undefined;
  /** The faults for which the whole file is refused, the first ones of them. */
  readonly faults: readonly BatchFault[];
  /** The model of the lines. */
  model(): string;
}

/** A fault for which the whole file is refused. */
class FileFault extends Error {
  readonly fault: BatchFault;

  constructor(fault: BatchFault) {
    super(fault.message);
    this.fault = fault;
  }
}

export function lineChecker(endpoint: BatchEndpoint, models: Models): LineChecker {
  const seen = new Set<string>();
  const faults: BatchFault[] = [];
  let model: string | undefined;

  const assertModel = (line: number, body: object): void => {
    const named = readOwn(body, 'model');
    if (typeof named !== 'string' || named === '')
      throw refuse('missing_required_parameter', line, 'body.model', 'is required');
    if (named.length > MODEL_CHARACTERS_MAX)
      throw refuse('invalid_request', line, 'body.model', `must have at most ${MODEL_CHARACTERS_MAX} characters`);
    model ??= named;
    if (named !== model)
      throw refuse('mismatched_model', line, 'body.model', `must be ${JSON.stringify(model)} as in the lines before`);
  };
  const assertNew = (line: number, customId: string): void => {
    const digest = createHash('sha256').update(customId).digest('base64url').slice(0, DIGEST_LENGTH);
    if (seen.has(digest)) throw refuse('duplicate_custom_id', line, 'custom_id', 'is that of an earlier line');
    seen.add(digest);
  };
  const read = ({ number, bytes }: FileLine): BatchLineInput | undefined => {
    if (number > BATCH_LINES_MAX)
      throw refuse('too_many_lines', number, undefined, `a file has at most ${BATCH_LINES_MAX} lines`);
    if (bytes === undefined)
      throw refuse('line_too_long', number, undefined, `a line has at most ${LINE_BYTES_MAX} bytes`);
    if (bytes.every(isBlank)) return undefined;
    const { customId, body } = readRequest(bytes, number, endpoint.path);
    assertNew(number, customId);
    assertModel(number, body);
    return { ...endpoint.decode(body, models), number, customId };
  };
  return {
    faults,
    model: () => model ?? '',
    check: (line) => {
      try {
        return read(line);
      } catch (error) {
        if (!(error instanceof FileFault)) throw error;
        faults.push(error.fault);
        return undefined;
      }
    },
  };
}

function refuse(code: string, line: number, param: string | undefined, what: string): FileFault {
  return new FileFault(newFault(code, param, what, line));
}

function refuseMember(name: string, line: number): FileFault {
  const right = describeRightField(name, LINE_FIELDS);
  const told = right.startsWith('did you mean') ? right : 'the fields of the request belong into body';
  return refuse('unknown_field', line, name.slice(0, SHOWN_CHARACTERS_MAX), `is an unknown field; ${told}`);
}

const SPACE = 0x20;

function isBlank(byte: number): boolean {
  return byte <= SPACE;
}

function readRequest(bytes: Buffer, line: number, path: string): { readonly customId: string; readonly body: object } {
  const request = parseLine(bytes, line);
  const unknown = Object.keys(request).find((name) => !LINE_FIELDS.includes(name));
  if (unknown !== undefined) throw refuseMember(unknown, line);
  const customId = readOwn(request, 'custom_id');
  if (typeof customId !== 'string' || customId === '')
    throw refuse('missing_required_parameter', line, 'custom_id', 'must be a text that names the line');
  if (customId.length > CUSTOM_ID_MAX || customId.includes('\0') || !customId.isWellFormed())
    throw refuse('invalid_custom_id', line, 'custom_id', `must have at most ${CUSTOM_ID_MAX} characters of Unicode`);
  if (readOwn(request, 'method') !== METHOD) throw refuse('invalid_method', line, 'method', `must be ${METHOD}`);
  if (readOwn(request, 'url') !== path)
    throw refuse('invalid_url', line, 'url', `must be ${path}, the endpoint of the batch`);
  const body = readOwn(request, 'body');
  if (!isObject(body)) throw refuse('missing_required_parameter', line, 'body', 'must be an object');
  return { customId, body };
}

function parseLine(bytes: Buffer, line: number): object {
  try {
    const value = parseBoundedJson(bytes, SMALL_JSON, 'the line');
    if (isObject(value)) return value;
  } catch (error) {
    if (error instanceof Problem) throw refuse('invalid_json_line', line, undefined, error.message);
    // any other message would have words of the file
  }
  throw refuse('invalid_json_line', line, undefined, 'the line is not a JSON object');
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readOwn(object: object, name: string): unknown {
  return Object.hasOwn(object, name) ? (object as Readonly<Record<string, unknown>>)[name] : undefined;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** A line of a file, without its end. */
interface FileLine {
  /** From 1. Empty lines count too. */
  readonly number: number;
  /** The line, undefined if it is longer than it may be. */
  readonly bytes: Buffer | undefined;
}

/** Splits a file into its lines. It holds one line at a time, of at most `bytesMax` bytes; a longer one has no bytes. */
export async function* splitLines(file: AsyncIterable<Uint8Array>, bytesMax: number): AsyncGenerator<FileLine> {
  let parts: Buffer[] = [];
  let length = 0;
  let number = 0;
  const take = (part: Buffer): void => {
    length += part.length;
    if (length <= bytesMax) parts.push(part);
    else parts = [];
  };
  const end = (): FileLine => {
    number += 1;
    const bytes = length <= bytesMax ? dropReturn(Buffer.concat(parts)) : undefined;
    parts = [];
    length = 0;
    return { number, bytes };
  };
  for await (const chunk of file) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
      take(bytes.subarray(from, at));
      yield end();
      from = at + 1;
    }
    if (from < bytes.length) take(bytes.subarray(from));
  }
  if (length > 0) yield end();
}

function dropReturn(line: Buffer): Buffer {
  return line.at(-1) === RETURN ? line.subarray(0, -1) : line;
}
