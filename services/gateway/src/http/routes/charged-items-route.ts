import { Readable } from 'node:stream';
import type { ChargedItem, ItemPage, ItemQuestion, ReadChargedItems } from '../../clients/charged-items-client.ts';
import { CHARGED_PARTS, USAGE_COUNTS } from '../../clients/usage-client.ts';
import type { ReadUsage } from '../../clients/usage-client.ts';
import { invalid } from '../../dialects/wire/body-validator.ts';
import { formatDecimal } from '../../domain/decimal.ts';
import { closeWithoutAccess } from '../admission/watch-access.ts';
import type { AccessParts } from '../admission/watch-access.ts';
import { requirePrincipal } from '../http-exchange.ts';
import { readUsageSpan, wantsCsv } from './account-usage-route.ts';
import { newAnswer } from '../../domain/schema.ts';
import type { TypeOf } from '../../domain/schema.ts';
import { chargedItemsDoc, itemPageSchema } from './charged-items-doc.ts';
import { formatCsvLine } from './csv-text.ts';
import type { RouteEntry } from './route.ts';

const LIMIT_DEFAULT = 100;
export const ITEMS_MAX = 1000;
/** A CSV file has the whole period. */
export const FILE_ITEMS_MAX = 100_000;
/** The last page of a full file may be short. */
const FILE_PAGES_MAX = FILE_ITEMS_MAX / ITEMS_MAX + 1;
const AFTER_CHARACTERS_MAX = 300;
// a new column goes last, so that the columns of older files keep their places
const HEAD = [
  ...['settled_at', 'id', 'model', 'token', 'token_name', 'basis', 'amount', 'currency'],
  ...USAGE_COUNTS,
  'label',
  ...CHARGED_PARTS,
];

const PAGE_ANSWER = newAnswer(itemPageSchema, toJsonPage);

/** The parts that the list of charges needs. */
export interface ChargesRouteParts extends AccessParts {
  readonly usage: ReadUsage;
  readonly chargedItems: ReadChargedItems;
}

/** Lists the settled tasks and calls of the account of the token: a page as JSON, or the whole period as CSV. */
export function listChargesRoute(parts: ChargesRouteParts): RouteEntry {
  const { clock, usage, chargedItems } = parts;
  return {
    kind: 'read',
    methods: ['GET'],
    path: '/v1/usage/items',
    token: { counts: 'reads' },
    handle: async (exchange) => {
      const query = new URLSearchParams(exchange.querystring);
      const { requestId } = exchange.state;
      const { accountId } = requirePrincipal(exchange);
      const question = { ...readUsageSpan(query, clock.now()), ...readPlace(query), accountId };
      const readPage = (asked: ItemQuestion): Promise<ItemPage> => chargedItems(asked, requestId);
      if (!wantsCsv(exchange, query)) {
        exchange.body = PAGE_ANSWER.encode(question, await readPage(question));
        return;
      }
      const { from, to } = question;
      const { total } = await usage({ accountId, from, to, groupBy: 'model' }, requestId);
      assertFits(total.counts.requests);
      // charges that come while the file is sent are not in it
      const whole = { accountId, from, to: Math.max(from + 1, Math.min(to, clock.now())), limit: ITEMS_MAX, after: '' };
      const first = await readPage(whole);
      closeWithoutAccess(parts, exchange);
      exchange.type = 'text/csv; charset=utf-8';
      exchange.attachment('reelgate-charges.csv');
      exchange.body = Readable.from(listCsvLines(whole, first, readPage));
    },
    doc: { ...chargedItemsDoc, answers: { 'application/json': PAGE_ANSWER.schema, 'text/csv': { type: 'string' } } },
  };
}

/** The first page is read before the answer begins, so a refusal still has a status of its own. */
async function* listCsvLines(
  question: ItemQuestion,
  first: ItemPage,
  readPage: (question: ItemQuestion) => Promise<ItemPage>,
): AsyncGenerator<string> {
  yield formatCsvLine(HEAD);
  let page = first;
  for (let pages = 1; pages <= FILE_PAGES_MAX; pages += 1) {
    yield page.items.map((item) => formatCsvLine(toCells(item, page.currency))).join('');
    if (page.continueAfter === '') return;
    page = await readPage({ ...question, after: page.continueAfter });
  }
}

function readPlace(query: URLSearchParams): Pick<ItemQuestion, 'limit' | 'after'> {
  const text = query.get('limit');
  const limit = text === null || text === '' ? LIMIT_DEFAULT : Number(text);
  if (!Number.isInteger(limit) || limit < 1 || limit > ITEMS_MAX)
    throw invalid('limit', `must be a whole number from 1 to ${ITEMS_MAX}`, 'invalid_request');
  const after = query.get('after') ?? '';
  if (after.length > AFTER_CHARACTERS_MAX)
    throw invalid('after', 'must be the last value of next_after', 'invalid_request');
  return { limit, after };
}

function assertFits(requests: number): void {
  if (requests > FILE_ITEMS_MAX)
    throw invalid(
      'to',
      `must be earlier: a file has at most ${FILE_ITEMS_MAX} charges, and this period has ${requests}`,
      'invalid_request',
    );
}

function toJsonPage(
  { accountId, from, to }: ItemQuestion,
  { items, currency, continueAfter }: ItemPage,
): TypeOf<typeof itemPageSchema> {
  return {
    object: 'list',
    account: accountId,
    currency,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    data: items.map(({ id, settledAt, model, tokenId, tokenName, label, basis, amountNanos, counts, parts }) => ({
      id,
      settled_at: new Date(settledAt).toISOString(),
      model,
      token: tokenId,
      token_name: tokenName,
      label,
      basis,
      amount: formatDecimal(amountNanos),
      ...counts,
      parts,
    })),
    has_more: continueAfter !== '',
    next_after: continueAfter === '' ? null : continueAfter,
  };
}

function toCells(item: ChargedItem, currency: string): readonly string[] {
  return [
    new Date(item.settledAt).toISOString(),
    item.id,
    item.model,
    item.tokenId,
    item.tokenName,
    item.basis,
    formatDecimal(item.amountNanos),
    currency,
    ...USAGE_COUNTS.map((name) => String(item.counts[name])),
    item.label,
    ...CHARGED_PARTS.map((name) => String(item.parts[name] ?? 0)),
  ];
}
