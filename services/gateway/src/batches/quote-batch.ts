import { nextTurn } from '@reelgate/platform/bounded-json';
import { isProblem } from '@reelgate/platform/problem';
import type { Problem } from '@reelgate/platform/problem';
import type { BatchFault, BatchLineInput } from '@reelgate/proto/tasks/v1/batch';
import type { AccountCaller } from '../clients/caller.ts';
import type { ClientFiles } from '../clients/client-files.ts';
import { toWirePreference } from '../clients/tasks-client.ts';
import type { Order, TasksClient } from '../clients/tasks-client.ts';
import type { Models } from '../domain/model-defaults.ts';
import { newFault } from './batch-endpoints.ts';
import type { BatchEndpoint } from './batch-endpoints.ts';
import { BATCH_FAULTS_MAX, LINE_BYTES_MAX, lineChecker, splitLines } from './check-line.ts';
import { refuse } from '../refusals.ts';

/** The lines that are read in one turn of the event loop. */
const STEP_LINES = 16;
/** Lines that differ only in texts and URLs have the same price, so a file has few different orders. */
const ORDERS_MAX = 200;
const AT_ONCE = 8;
const DEADLINE_MS = 15_000;
/** The lines of a batch wait in its class, which can have prices of its own. */
const QUEUE = toWirePreference({ class: 'batch' });

export interface QuoteDeps {
  readonly files: ClientFiles;
  readonly tasks: TasksClient;
  readonly models: Models;
}

export interface QuoteRequest extends AccountCaller {
  readonly tokenId: string;
  readonly inputFileId: string;
  readonly endpoint: BatchEndpoint;
  readonly signal: AbortSignal;
}

/** The price of a file of lines. */
export interface BatchQuote {
  readonly model: string;
  readonly counts: { readonly total: number; readonly priced: number; readonly refused: number };
  /** The sum of the prices, in billionths, and of the most that the lines can hold. */
  readonly amountNanos: bigint;
  readonly maxAmountNanos: bigint;
  /** Undefined if no line has a price. */
  readonly currency: string | undefined;
  /** The first reasons for which lines have no price. */
  readonly faults: readonly BatchFault[];
}

/**
 * Computes what the lines of a file would cost now, without storing anything. Each different order is estimated once,
 * and counts as often as it occurs. A line that would end with a fault costs nothing.
 */
export async function quoteBatch(deps: QuoteDeps, request: QuoteRequest): Promise<BatchQuote> {
  const read = await readOrders(deps, request);
  const quotes = await estimateOrders(deps, request, read.orders);
  const faults = [...read.faults, ...quotes.flatMap(({ fault }) => (fault === undefined ? [] : [fault]))];
  const sum = (pick: (quote: OrderQuote) => bigint): bigint => quotes.reduce((all, quote) => all + pick(quote), 0n);
  const priced = quotes.reduce((lines, { count, fault }) => lines + (fault === undefined ? count : 0), 0);
  return {
    model: read.model,
    counts: { total: read.total, priced, refused: read.total - priced },
    amountNanos: sum(({ count, nanos }) => nanos * BigInt(count)),
    maxAmountNanos: sum(({ count, maxNanos }) => maxNanos * BigInt(count)),
    currency: quotes.find(({ currency }) => currency !== undefined)?.currency,
    faults: faults.slice(0, BATCH_FAULTS_MAX),
  };
}

/** An order that some lines have in common, but for texts and URLs. */
interface CommonOrder {
  readonly order: Order;
  /** The first line that has it. */
  readonly line: BatchLineInput;
  count: number;
}

interface ReadLines {
  readonly model: string;
  readonly total: number;
  readonly orders: readonly CommonOrder[];
  readonly faults: readonly BatchFault[];
}

/** Reads the lines as the worker of a batch does. A file that it would refuse is refused here. */
async function readOrders({ files, models }: QuoteDeps, request: QuoteRequest): Promise<ReadLines> {
  const { accountId, inputFileId, endpoint, signal } = request;
  const file = await files.read(accountId, inputFileId, signal);
  if (file === undefined) throw refuseFile('was deleted or has expired');
  const checker = lineChecker(endpoint, models);
  const orders = new Map<string, CommonOrder>();
  const faults: BatchFault[] = [];
  let total = 0;
  for await (const one of splitLines(file, LINE_BYTES_MAX)) {
    const line = checker.check(one);
    const [refusal] = checker.faults;
    if (refusal !== undefined) throw refuseFile(`has a fault in line ${refusal.line}: ${refusal.message}`);
    if (one.number % STEP_LINES === 0) await nextTurn();
    if (line === undefined) continue;
    total += 1;
    const { body, number } = line;
    if (body.case === 'order') addOrder(orders, line, body.value);
    if (body.case === 'fault' && faults.length < BATCH_FAULTS_MAX) faults.push({ ...body.value, line: number });
  }
  if (total === 0) throw refuseFile('has no lines');
  return { model: checker.model(), total, orders: [...orders.values()], faults };
}

function addOrder(orders: Map<string, CommonOrder>, line: BatchLineInput, order: Order): void {
  const key = describePriced(order);
  const known = orders.get(key);
  if (known !== undefined) {
    known.count += 1;
    return;
  }
  if (orders.size >= ORDERS_MAX)
    throw refuseFile(`has more than ${ORDERS_MAX} different orders; estimate them one by one at /v1/videos/estimate`);
  orders.set(key, { order, line, count: 1 });
}

/** The order without the words that no price depends on. Of the fields that adapters know it has the names. */
function describePriced(order: Order): string {
  return JSON.stringify(order, (name, value: unknown) => {
    if (name === 'item') return (value as Order['content'][number]['item']).case === 'text' ? 'text' : value;
    if (name === 'url') return '';
    if (name === 'extraJson') return value === '' ? '' : Object.keys(JSON.parse(String(value)) as object).toSorted();
    return typeof value === 'bigint' ? value.toString() : value;
  });
}

interface OrderQuote {
  readonly count: number;
  readonly nanos: bigint;
  readonly maxNanos: bigint;
  readonly currency: string | undefined;
  readonly fault: BatchFault | undefined;
}

async function estimateOrders(
  deps: QuoteDeps,
  request: QuoteRequest,
  orders: readonly CommonOrder[],
): Promise<readonly OrderQuote[]> {
  const quotes: OrderQuote[] = [];
  for (let from = 0; from < orders.length; from += AT_ONCE) {
    request.signal.throwIfAborted();
    const step = orders.slice(from, from + AT_ONCE);
    quotes.push(...(await Promise.all(step.map((order) => estimateCommon(deps, request, order)))));
  }
  return quotes;
}

const REFUSED_KINDS: ReadonlySet<string> = new Set(['invalid', 'not_found', 'unprocessable', 'forbidden']);

async function estimateCommon(
  { tasks }: QuoteDeps,
  { accountId, tokenId, endpoint, requestId, span }: QuoteRequest,
  { order, line: { number, fieldNames }, count }: CommonOrder,
): Promise<OrderQuote> {
  try {
    const request = { accountId, tokenId, order, queue: QUEUE };
    const estimate = await tasks.estimateOrder(request, { timeoutMs: DEADLINE_MS, requestId, span });
    const { amountNanos: nanos, maxAmountNanos: maxNanos = nanos, currency } = estimate;
    return { count, nanos, maxNanos, currency, fault: undefined };
  } catch (error) {
    if (!isProblem(error) || !REFUSED_KINDS.has(error.kind)) throw error;
    const path = error.field?.replace(/^order\./, '').replace(/^extra_json\./, '');
    const told = newFault(error.reason, path && (fieldNames[path] ?? path), error.message, number);
    return { count, nanos: 0n, maxNanos: 0n, currency: undefined, fault: endpoint.explain?.(told) ?? told };
  }
}

function refuseFile(what: string): Problem {
  return refuse('invalid_request', { field: 'input_file_id', message: what });
}
