import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Busboy } from '@fastify/busboy';
import { nextTurn } from '@reelgate/platform/bounded-json';
import type { Problem } from '@reelgate/platform/problem';
import { sourceNetwork } from '@reelgate/platform/source-address';
import type { ClientBody, Form, FormFile } from '../../dialects/dialect.ts';
import type { Exchange } from '../http-exchange.ts';
import type { BodyBudget, BodyOwner } from './body-budget.ts';
import { collectBytes } from './collect-bytes.ts';
import { checkJsonBody, parseJsonBody } from './parse-json.ts';
import { readRawBody, receiveBody } from './receive-body.ts';
import type { ReceiveOptions } from './receive-body.ts';
import type { Sink } from './unpack-body.ts';
import { refuse } from '../../refusals.ts';

/** Matches the content type of JSON, or an empty one, with any parameters. */
const JSON_TYPE = /^\s*(?:application\/(?:[\w.-]+\+)?json\s*)?(?:;|$)/i;
/** A longer text in a form has to be a file. This much holds the base64 of a picture of 30 MiB. */
const FIELD_BYTES_MAX = 41 * 1024 * 1024;
const LIMITS = { fieldNameSize: 200, fields: 500, files: 4, parts: 504, headerPairs: 50 };
const FILE_TYPES = /^(application\/octet-stream|image\/.*|video\/.*|audio\/.*)$/i;

export interface ReadBodyOptions extends ReceiveOptions {
  readonly takesForms: boolean;
}

/**
 * Reads a body as JSON, or as a multipart form if the route takes forms. A body without a content type is read as JSON.
 */
async function readBody(request: IncomingMessage, options: ReadBodyOptions): Promise<ClientBody> {
  const type = readBodyType(request.headers, options.takesForms);
  return type === 'form'
    ? receiveForm(request, options)
    : { json: await parseJsonBody(await readRawBody(request, options, checkJsonBody(request.headers))) };
}

/** Reads the kind of a body from its headers. Refuses a kind that the route does not take. */
export function readBodyType(headers: IncomingHttpHeaders, takesForms: boolean): 'json' | 'form' {
  const declared = headers['content-type'] ?? '';
  if (JSON_TYPE.test(declared)) return 'json';
  const [type = ''] = declared
    .toLowerCase()
    .split(';', 1)
    .map((part) => part.trim());
  if (type === 'multipart/form-data' && takesForms) return 'form';
  throw refuse('unsupported_media_type', {
    message: `content-type must be application/json${takesForms ? ' or multipart/form-data' : ''}; it is ${type.slice(0, 80)}`,
  });
}

async function receiveForm(request: IncomingMessage, options: ReceiveOptions): Promise<ClientBody> {
  const parser = multipartParser(request.headers, options.bytesMax);
  await receiveBody(request, options, parser.sink);
  return { form: await parser.end() };
}

type Parser = InstanceType<typeof Busboy>;

/** A part without a file name is a file if it has the media type of a file. */
function isPartAFile(_name: string | undefined, mediaType: string | undefined, fileName: string | undefined): boolean {
  return fileName !== undefined || FILE_TYPES.test(mediaType ?? '');
}

/** Parses a multipart body as it arrives. It keeps the bytes of the files without copying them. */
function multipartParser(
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
    sink: (chunk) => {
      assertValid();
      return parser.write(chunk) ? undefined : waitForDrain(parser, finished);
    },
    end: async () => {
      // the parser of a refused form never finishes, so waiting for it would hang
      assertValid();
      parser.end();
      await finished;
      assertValid();
      // the last field may have taken long to decode
      await nextTurn();
      return { fields, files };
    },
  };
}

function collectFields(parser: Parser, refuse: (message: string) => void): Form['fields'] {
  const fields: (readonly [string, string])[] = [];
  parser.on('field', (name, value, nameTruncated, valueTruncated) => {
    if (nameTruncated) refuse(`the form has a field whose name has more than ${LIMITS.fieldNameSize} bytes`);
    if (valueTruncated) refuse(`the form has a field of more than ${FIELD_BYTES_MAX} bytes; send media as a file`);
    fields.push([name, value]);
  });
  return fields;
}

/** A file field without a name and without bytes is not a file. */
function collectFiles(parser: Parser, refuse: (message: string) => void): Form['files'] {
  const files: FormFile[] = [];
  parser.on('file', (...[name, stream, fileName, , mediaType]) => {
    const bytes = collectBytes();
    stream.on('data', bytes.add);
    stream.on('error', () => refuse('the form ends inside a file'));
    stream.on('end', () => {
      const chunks = bytes.list();
      if (chunks.length > 0 || ((fileName as string | undefined) ?? '') !== '') files.push({ name, mediaType, chunks });
    });
  });
  return files;
}

/** Resolves when the parser takes the next chunk. */
export async function waitForDrain(parser: Parser, over: Promise<unknown>): Promise<void> {
  await Promise.race([new Promise((resolve) => parser.once('drain', resolve)), over]);
}

function waitForEnd(parser: Parser, refuse: (message: string) => void): Promise<void> {
  for (const bound of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) {
    parser.on(bound, () => refuse(`the form must have at most ${LIMITS.fields} fields and ${LIMITS.files} files`));
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
      limits: { ...LIMITS, fieldSize: Math.min(bytesMax, FIELD_BYTES_MAX), fileSize: bytesMax },
      isPartAFile,
    });
  } catch {
    throw invalidForm('the content-type of the form must have a boundary');
  }
}

function invalidForm(message: string): Problem {
  return refuse('invalid_request', { message });
}

/** The bounds on the bodies of requests. */
export interface BodyBounds {
  readonly limits: { readonly bodyBytes: number };
  readonly budget: BodyBudget;
}

/** Reads the body of an exchange within the limits of this gateway. */
export function readExchangeBody(
  exchange: Exchange,
  { limits, budget }: BodyBounds,
  takesForms: boolean,
): Promise<ClientBody> {
  return readBody(exchange.req, { takesForms, ...toReceiveOptions(exchange, budget, limits.bodyBytes) });
}

/** Returns the options for receiving the body of an exchange of at most `bytesMax` bytes. */
export function toReceiveOptions(exchange: Exchange, budget: BodyBudget, bytesMax: number): ReceiveOptions {
  return {
    budget,
    bytesMax,
    owner: readOwner(exchange),
    gone: exchange.state.end.gone,
    whenOver: exchange.state.end.whenOver,
    sendContinue: () => {
      if (!exchange.state.expectsContinue) return;
      exchange.state.expectsContinue = false;
      exchange.res.writeContinue();
    },
  };
}

/** The account or the operators of the request; without a token, the network that it comes from. */
export function readOwner({ state }: Exchange): BodyOwner {
  if (state.operator !== undefined) return { kind: 'operator', id: '' };
  if (state.principal !== undefined) return { kind: 'account', id: state.principal.accountId };
  return { kind: 'source', id: sourceNetwork(state.source()) };
}
