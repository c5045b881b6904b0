import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import type { Problem } from '@reelgate/platform/problem';
import { PRICED_PATHS } from './batch-endpoints.ts';
import type { BatchEndpoint } from './batch-endpoints.ts';
import { quoteBatch } from './quote-batch.ts';
import type { BatchQuote } from './quote-batch.ts';
import { invalid } from '../dialects/wire/body-validator.ts';
import { formatDecimal } from '../domain/decimal.ts';
import { readExchangeBody } from '../http/bodies/read-body.ts';
import type { BodyBounds } from '../http/bodies/read-body.ts';
import type { ClientFiles } from '../clients/client-files.ts';
import type { AccountBooks } from '../clients/money-client.ts';
import type { TasksClient } from '../clients/tasks-client.ts';
import type { Catalogue } from '../domain/model-defaults.ts';
import { requirePrincipal } from '../http/http-exchange.ts';
import type { Exchange } from '../http/http-exchange.ts';
import { assertBound, findInput } from './batch-routes.ts';
import { BATCH_ESTIMATE_ANSWER, BATCH_ESTIMATE_BODY, decodeBatch, encodeFaults } from './batch-shapes.ts';
import type { TypeOf } from '../domain/schema.ts';
import { jsonRoute } from '../http/routes/route.ts';
import type { RouteEntry } from '../http/routes/route.ts';
import { refuse } from '../refusals.ts';

/** A file of the most lines takes some seconds to read. */
const DEADLINE_MS = 60_000;
/** The files that a process reads for estimates at once. */
const AT_ONCE = 2;
const RETRY_MS = 2000;

type BatchEstimate = TypeOf<typeof BATCH_ESTIMATE_ANSWER>;

/** The parts that the estimate of a batch needs. */
export interface BatchEstimateParts extends BodyBounds {
  readonly files: ClientFiles;
  readonly books: AccountBooks;
  readonly tasks: TasksClient;
  readonly catalogue: () => Catalogue;
  /** Aborted when the gateway stops. */
  readonly stopping: AbortSignal;
}

/** Says what a batch would cost, before it is created. */
export function estimateBatchRoute(
  parts: BatchEstimateParts,
  endpoints: ReadonlyMap<string, BatchEndpoint>,
): RouteEntry {
  const permits = newSemaphore({ permits: AT_ONCE, waitingMax: 0 });
  return jsonRoute({
    kind: 'read',
    methods: ['POST'],
    path: '/v1/batches/estimate',
    token: { counts: 'calls' },
    answer: BATCH_ESTIMATE_ANSWER,
    respond: async (exchange) => {
      const read = await readExchangeBody(exchange, parts, false);
      if (!permits.tryAcquire()) throw busy();
      try {
        return await estimate(parts, endpoints, exchange, 'json' in read ? read.json : undefined);
      } finally {
        permits.release();
      }
    },
    doc: {
      tag: 'Batches',
      operationId: 'estimateBatch',
      summary: 'Estimate what a batch would cost, without creating it',
      description:
        'Takes the body of the create of videos. Lines that differ only in texts and URLs have one price; neither is checked. The ' +
        'seconds of reference videos do not count.',
      json: BATCH_ESTIMATE_BODY,
      refuses: [404, 422],
    },
  });
}

async function estimate(
  parts: BatchEstimateParts,
  endpoints: ReadonlyMap<string, BatchEndpoint>,
  exchange: Exchange,
  json: unknown,
): Promise<BatchEstimate> {
  const { accountId, tokenId } = requirePrincipal(exchange);
  const { requestId, span, end } = exchange.state;
  const body = decodeBatch(json);
  const endpoint = endpoints.get(body.endpoint);
  if (endpoint === undefined || !PRICED_PATHS.includes(body.endpoint))
    throw invalid('endpoint', `must be ${PRICED_PATHS.join(', ')}: the price of a call is known only after it`);
  const caller = { accountId, requestId, span };
  await assertBound(parts, body, caller);
  await findInput(parts, body, caller);
  const signal = AbortSignal.any([end.gone(), parts.stopping, AbortSignal.timeout(DEADLINE_MS)]);
  const quote = await quoteBatch(
    { files: parts.files, tasks: parts.tasks, models: parts.catalogue().models },
    { accountId, tokenId, inputFileId: body.input_file_id, endpoint, requestId, span, signal },
  );
  const currency = quote.currency ?? (await parts.books.account(caller)).currency;
  return encodeQuote(body.endpoint, quote, currency);
}

function encodeQuote(endpoint: string, quote: BatchQuote, currency: string): BatchEstimate {
  return {
    object: 'batch.estimate',
    endpoint,
    model: quote.model,
    amount: formatDecimal(quote.amountNanos),
    max_amount: formatDecimal(quote.maxAmountNanos),
    currency,
    request_counts: { ...quote.counts },
    errors: encodeFaults(quote.faults),
  };
}

function busy(): Problem {
  return refuse('gateway_busy', {
    message: 'reads other files for estimates; retry in two seconds',
    retryAfterMs: RETRY_MS,
  });
}
