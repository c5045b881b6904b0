import type { Problem } from '@reelgate/platform/problem';
import { PRICED_PATHS } from './batch-endpoints.ts';
import { FilePurpose } from '@reelgate/proto/media/v1/file_service';
import type { Client } from '@reelgate/platform/rpc/service';
import type { Batch } from '@reelgate/proto/tasks/v1/batch';
import type { BatchService } from '@reelgate/proto/tasks/v1/batch_service';
import { withDeadline } from '../clients/caller.ts';
import type { AccountCaller } from '../clients/caller.ts';
import { requireValue } from '../clients/wire-values.ts';
import { invalid } from '../dialects/wire/body-validator.ts';
import { readWholeNumber } from '../dialects/wire/query-values.ts';
import { meansBound, toPlainName } from '../dialects/wire/unknown-fields.ts';
import { computeFingerprint } from '../http/bodies/fingerprint.ts';
import { readExchangeBody } from '../http/bodies/read-body.ts';
import type { ClientFiles } from '../clients/client-files.ts';
import type { AccountBooks } from '../clients/money-client.ts';
import type { BodyBounds } from '../http/bodies/read-body.ts';
import { ANNOTATION_HEADERS, fillAnnotations } from '../domain/annotations.ts';
import { readAnnotations, readIdempotencyKey } from '../http/headers.ts';
import { requirePrincipal } from '../http/http-exchange.ts';
import type { Exchange } from '../http/http-exchange.ts';
import {
  BATCH_ANSWER,
  BATCH_BODY,
  BATCH_LIMIT,
  BATCH_LIST_PARAMETERS,
  BATCH_PAGE_ANSWER,
  decodeBatch,
  encodeBatch,
} from './batch-shapes.ts';
import type { BatchAnswer, BatchBody } from './batch-shapes.ts';
import { jsonRoute } from '../http/routes/route.ts';
import type { RouteEntry } from '../http/routes/route.ts';
import { PLAUSIBLE_ID } from '../http/routes/task-id.ts';
import { encodePage } from '../dialects/wire/list-page.ts';
import { refuse } from '../refusals.ts';

const BATCHES = '/v1/batches';
const BATCH = `${BATCHES}/{batch_id}`;
const TAG = 'Batches';
/** The members of the metadata that bound what the lines may cost together. */
const MAX_AMOUNT = 'max_amount';
const CURRENCY = 'currency';

/** The parts that the routes of batches need. */
export interface BatchRouteParts extends BodyBounds {
  readonly batches: Client<typeof BatchService>;
  readonly files: ClientFiles;
  readonly books: AccountBooks;
}

/** The batches of an account, with the contract of OpenAI's clients. */
export function batchRoutes(parts: BatchRouteParts): RouteEntry[] {
  return [createRoute(parts), listBatchesRoute(parts), getRoute(parts), cancelRoute(parts)];
}

function createRoute(parts: BatchRouteParts): RouteEntry {
  return jsonRoute({
    kind: 'change',
    methods: ['POST'],
    path: BATCHES,
    token: { counts: 'calls' },
    answer: BATCH_ANSWER,
    respond: (exchange) => createBatch(parts, exchange),
    doc: {
      tag: TAG,
      operationId: 'createBatch',
      summary: 'Create a batch',
      description:
        'Each line of the file becomes a create of the class `batch` or a later call, with a hold of its own.',
      headers: ['Idempotency-Key', ...ANNOTATION_HEADERS],
      json: BATCH_BODY,
      answerHeaders: ['idempotent-replayed'],
      refuses: [404, 409, 422],
    },
  });
}

async function createBatch(parts: BatchRouteParts, exchange: Exchange): Promise<BatchAnswer> {
  const { accountId, tokenId } = requirePrincipal(exchange);
  const key = readIdempotencyKey(exchange.req.headers['idempotency-key']);
  const annotations = fillAnnotations(readAnnotations(exchange.req.headers));
  const read = await readExchangeBody(exchange, parts, false);
  const body = decodeBatch('json' in read ? read.json : undefined);
  const { requestId, span } = exchange.state;
  const caller = { accountId, requestId, span };
  await assertBound(parts, body, caller);
  await findInput(parts, body, caller);
  const created = await parts.batches.createBatch(
    {
      accountId,
      tokenId,
      endpoint: body.endpoint,
      inputFileId: body.input_file_id,
      metadata: body.metadata ?? {},
      outputExpiresAfterSeconds: BigInt(body.output_expires_after?.seconds ?? 0),
      ...annotations,
      idempotencyKey: key ?? '',
      requestFingerprint:
        key === undefined ? '' : await computeFingerprint({ method: 'POST', path: BATCHES, body: read }),
    },
    withDeadline(caller),
  );
  if (created.replayed) exchange.set('idempotent-replayed', 'true');
  return encodeAnswered(created);
}

function encodeAnswered({ batch }: { readonly batch?: Batch | undefined }): BatchAnswer {
  return encodeBatch(requireValue(batch));
}

/** Refuses a file that is not one of the account for batches. */
export async function findInput(
  { files }: { readonly files: ClientFiles },
  { input_file_id: fileId }: BatchBody,
  { accountId, ...caller }: AccountCaller,
): Promise<void> {
  const file = await files.find(accountId, fileId, caller);
  if (file?.purpose !== FilePurpose.BATCH) throw unknownInput();
}

/**
 * Refuses a bound that would bound nothing: one by another name, one in another currency than that of the account, and
 * one of calls, whose price is known only after them.
 */
export async function assertBound(
  { books }: { readonly books: AccountBooks },
  { endpoint, metadata }: BatchBody,
  caller: AccountCaller,
): Promise<void> {
  const members = Object.entries(metadata ?? {});
  const bounds = members.map(([name]) => name).filter(meansBound);
  const [first] = bounds;
  if (first === undefined) return;
  if (!PRICED_PATHS.includes(endpoint))
    throw invalid(`metadata.${first}`, `is possible for ${PRICED_PATHS.join(', ')} alone`);
  const wrong = bounds.find((name) => name !== MAX_AMOUNT);
  if (wrong !== undefined)
    throw invalid(`metadata.${wrong}`, `bounds nothing; send metadata.${MAX_AMOUNT}`, 'unknown_field');
  const [name, value] = members.find(([one]) => toPlainName(one) === CURRENCY) ?? [];
  if (name === undefined) return;
  const { currency } = await books.account(caller);
  if (value !== currency) throw invalid(`metadata.${name}`, `must be ${currency}, the currency of the account`);
}

function listBatchesRoute({ batches }: BatchRouteParts): RouteEntry {
  return jsonRoute({
    kind: 'read',
    methods: ['GET'],
    path: BATCHES,
    token: { counts: 'reads' },
    answer: BATCH_PAGE_ANSWER,
    respond: async (exchange) => {
      const { accountId } = requirePrincipal(exchange);
      const query = new URLSearchParams(exchange.querystring);
      const after = query.get('after') ?? '';
      if (after !== '' && !PLAUSIBLE_ID.test(after)) throw invalid('after', 'must be the id of a batch');
      const limit = readWholeNumber(query, 'limit', BATCH_LIMIT);
      const page = await batches.listBatches({ accountId, limit, after }, withDeadline(exchange.state));
      return encodePage(page.batches, page.hasMore, encodeBatch);
    },
    doc: {
      tag: TAG,
      operationId: 'listBatches',
      summary: 'List batches, newest first',
      parameters: BATCH_LIST_PARAMETERS,
      refuses: [400, 404],
    },
  });
}

function getRoute({ batches }: BatchRouteParts): RouteEntry {
  return jsonRoute({
    kind: 'read',
    methods: ['GET'],
    path: BATCH,
    token: { counts: 'reads' },
    answer: BATCH_ANSWER,
    respond: async (exchange) => {
      const { accountId } = requirePrincipal(exchange);
      const batchId = readBatchId(exchange);
      return encodeAnswered(await batches.getBatch({ accountId, batchId }, withDeadline(exchange.state)));
    },
    doc: {
      tag: TAG,
      operationId: 'getBatch',
      summary: 'Read a batch',
      refuses: [404],
    },
  });
}

function cancelRoute({ batches }: BatchRouteParts): RouteEntry {
  return jsonRoute({
    kind: 'change',
    methods: ['POST'],
    path: `${BATCH}/cancel`,
    token: { counts: 'calls' },
    answer: BATCH_ANSWER,
    respond: async (exchange) => {
      const { accountId } = requirePrincipal(exchange);
      const batchId = readBatchId(exchange);
      return encodeAnswered(await batches.cancelBatch({ accountId, batchId }, withDeadline(exchange.state)));
    },
    doc: {
      tag: TAG,
      operationId: 'cancelBatch',
      summary: 'Cancel a batch',
      description: 'No further line begins. Videos in progress finish, and are paid.',
      refuses: [404, 409],
    },
  });
}

function readBatchId({ params }: Exchange): string {
  const { batch_id: id = '' } = params;
  if (PLAUSIBLE_ID.test(id)) return id;
  throw refuse('batch_not_found');
}

function unknownInput(): Problem {
  return refuse('file_not_found', {
    field: 'input_file_id',
    message: 'must be the id of a file of this account with the purpose batch',
  });
}
