import type { Dialect, Links, CreateRoute, DecodedOrder, ReadRoute } from '../dialects/dialect.ts';
import { relayEndpoints } from '../relay/endpoints.ts';
import type { RelayEndpoint } from '../relay/endpoints.ts';
import { create } from '@bufbuild/protobuf';
import { BatchFaultSchema, BatchLineInputSchema } from '@reelgate/proto/tasks/v1/batch';
import type { BatchFault, BatchLine, BatchLineInput } from '@reelgate/proto/tasks/v1/batch';
import type { ByteReader } from '../clients/media-port.ts';
import type { Charge } from '../domain/charge.ts';
import type { Models } from '../domain/model-defaults.ts';
import type { Job } from '@reelgate/proto/tasks/v1/job';
import { openBytes } from '../jobs/job-bytes.ts';
import { encodeResult } from '../jobs/result-envelope.ts';
import { Problem } from '@reelgate/platform/problem';
import { describeRightField } from '../dialects/wire/unknown-fields.ts';

/** The routes of creates that a batch can call, and the reads that show what they made. One line adds a route. */
const VIDEO_ROUTES: readonly { readonly create: string; readonly read: string }[] = [
  { create: '/v1/videos', read: '/v1/videos/{task_id}' },
];

/** The relayed routes that a batch can call. One line adds a route. */
const CALL_ROUTES: readonly string[] = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/embeddings',
  '/v1/images/generations',
  '/v1/images/edits',
];

/** The paths of the endpoints whose lines have a price before they begin. */
export const PRICED_PATHS: readonly string[] = VIDEO_ROUTES.map(({ create }) => create);

/** The paths of the endpoints of batches, for their documentation. */
export const BATCH_PATHS: readonly string[] = [...PRICED_PATHS, ...CALL_ROUTES];

/** Finds the routes. Throws for one that no dialect and no relayed endpoint has. */
export function listBatchEndpoints(dialects: readonly Dialect[]): ReadonlyMap<string, BatchEndpoint> {
  const endpoints = [
    ...VIDEO_ROUTES.map(({ create, read }) =>
      videoEndpoint(
        findRoute(
          create,
          dialects.flatMap(({ creates }) => creates),
        ),
        findRoute(
          read,
          dialects.flatMap(({ reads }) => reads),
        ),
      ),
    ),
    ...CALL_ROUTES.map((path) => callEndpoint(findRoute(path, relayEndpoints))),
  ];
  return new Map(endpoints.map((endpoint) => [endpoint.path, endpoint]));
}

function findRoute<T extends { readonly path: string }>(path: string, routes: readonly T[]): T {
  const found = routes.find((route) => route.path === path);
  if (found === undefined) throw new Error(`no route is ${path}`);
  return found;
}

/** A route that the lines of a batch can call. */
export interface BatchEndpoint {
  readonly path: string;
  /** Reads the body of a line, which then lacks its number and its name. A body that the route refuses is a fault. */
  readonly decode: (body: object, models: Models) => BatchLineInput;
  /** Adds to the refusal of a line what the route adds to the refusal of a single request. */
  readonly explain?: (fault: BatchFault) => BatchFault;
  /** Encodes what the route answered. */
  readonly encode: (end: LineResult, parts: EncodeParts) => Promise<LineAnswer>;
}

/** The end of a line that has a task or a job. */
type LineResult = Extract<BatchLine['end'], { readonly case: 'task' | 'job' }>;

interface EncodeParts {
  readonly links: Links;
  readonly media: ByteReader;
  /** The charges of the tasks of lines. A task without a known charge is left out. */
  readonly charges: ReadonlyMap<string, Charge>;
}

/** The answer that the route would have given, or why there is none. A long body comes in pieces. */
export type LineAnswer =
  | { readonly statusCode: number; readonly body: object | AsyncIterable<string | Buffer> }
  | { readonly error: { readonly code: string; readonly message: string } };

/** The fault of a line, or of a file if no line is given, with the reason that a single request would have had. */
export function newFault(code: string, param = '', what: string, line = 0): BatchFault {
  return create(BatchFaultSchema, { code, line, param, message: param === '' ? what : `${param} ${what}` });
}

/** A line that ends alone. */
function newFaultyLine(code: string, param: string | undefined, what: string): BatchLineInput {
  return create(BatchLineInputSchema, { body: { case: 'fault', value: newFault(code, param, what) } });
}

const HEADERS = [{ name: 'content-type', value: 'application/json' }];
const DELETED = { code: 'task_deleted', message: 'the answer was deleted before the batch ended' };
const UNANSWERED = { code: 'internal_error', message: 'the call has no answer' };

/** The lines that call a relayed route. */
export function callEndpoint(endpoint: RelayEndpoint): BatchEndpoint {
  return {
    path: endpoint.path,
    decode: (body) => decodeCall(endpoint, body),
    encode: async (end, { media }) => {
      if (end.case !== 'job') throw new Error('the line of a call has a job');
      return encodeJob(end.value, media);
    },
  };
}

function decodeCall({ name, method, path, isRepeatable }: RelayEndpoint, body: object): BatchLineInput {
  const { model, stream } = body as { readonly model?: unknown; readonly stream?: unknown };
  if (stream === true) return newFaultyLine('invalid_request', 'stream', 'is not possible in a line of a batch');
  const call = {
    ...{ endpoint: name, method, path },
    // the line is checked: its model is a text
    model: String(model),
    headers: HEADERS,
    body: { case: 'inline' as const, value: Buffer.from(JSON.stringify(body)) },
  };
  return create(BatchLineInputSchema, { body: { case: 'call', value: { call, repeatable: isRepeatable } } });
}

async function encodeJob({ answer, failure }: Job, media: ByteReader): Promise<LineAnswer> {
  if (answer === undefined) return { error: failure ?? UNANSWERED };
  const bytes = await openBytes(media, answer.body);
  if (bytes === undefined) return { error: DELETED };
  return { statusCode: answer.statusCode, body: joinLines(encodeResult(answer.encoding, bytes)) };
}

/** A line of a file has no line breaks. JSON has line breaks between its words, and never in a text. */
async function* joinLines(pieces: AsyncIterable<string | Buffer>): AsyncGenerator<string | Buffer> {
  for await (const piece of pieces)
    yield typeof piece === 'string' ? piece : Buffer.from(piece.toString('latin1').replace(/[\r\n]/g, ' '), 'latin1');
}

const OK = 200;

/** The lines that create videos. */
function videoEndpoint(route: CreateRoute, read: ReadRoute): BatchEndpoint {
  return {
    path: route.path,
    decode: (body, models) => decodeOrder(route, body, models),
    explain: (fault) => addRightField(route, fault),
    encode: async (end, { links, charges }) => {
      if (end.case !== 'task') throw new Error('the line of a video has a task');
      return { statusCode: OK, body: read.answer.encode(end.value, links, charges.get(end.value.id)) };
    },
  };
}

function decodeOrder(route: CreateRoute, body: object, models: Models): BatchLineInput {
  try {
    const decoded = route.decode({ json: body }, { models, params: {} });
    const { order, inline, beside, clientField } = decoded;
    const [medium] = inline;
    if (medium !== undefined)
      return newFaultyLine('invalid_media', medium.field, 'must be a URL: a batch outlives the bytes of its lines');
    const unfit = Object.entries(beside).find(([, value]) => value !== undefined && value !== '');
    if (unfit !== undefined)
      return newFaultyLine(
        'invalid_request',
        clientField(toSnakeCase(unfit[0])),
        'is not possible in a line of a batch',
      );
    return create(BatchLineInputSchema, { body: { case: 'order', value: order }, fieldNames: listNames(decoded) });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return newFaultyLine(error.reason, error.field, error.message);
  }
}

/** The fields of an order that clients can write under other names. */
const FLAT_FIELDS = ['duration', 'resolution', 'ratio', 'size'];
/** The items of a content whose names are kept; a request has few. */
const ITEMS_NAMED_MAX = 32;

/** Lists the client's names for fields of the order, where they differ. */
function listNames({ order, clientField }: DecodedOrder): Record<string, string> {
  const items = order.content.slice(0, ITEMS_NAMED_MAX).flatMap((_item, index) => {
    const item = `content[${index}]`;
    return [item, `${item}.media.url`, `${item}.media.role`, `${item}.text`];
  });
  const named = [...FLAT_FIELDS, ...items].map((field) => [field, clientField(field)] as const);
  return Object.fromEntries(named.filter(([field, name]) => field !== name));
}

/** Names the field to send in place of one that no generator takes. The refusals of the dialect name it already. */
function addRightField({ known }: CreateRoute, fault: BatchFault): BatchFault {
  const { code, param, message } = fault;
  if (code !== 'unknown_field' || known === undefined || param === '' || param.includes('.')) return fault;
  const right = describeRightField(param, known);
  return message.endsWith(right) ? fault : { ...fault, message: `${message}; ${right}` };
}

function toSnakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
