import { Readable } from 'node:stream';
import type { ChargedItem, ListChargedItemsResponse } from '@reelgate/proto/billing/v1/usage_service';
import { nameSource } from '../../clients/usage-client.ts';
import type { ItemQuestion, ReadChargedItems, ReadUsage } from '../../clients/usage-client.ts';
import { requireValue, toMs } from '../../clients/wire-values.ts';
import { invalid } from '../../dialects/wire/body-validator.ts';
import { closeWithoutAccess } from '../admission/watch-access.ts';
import type { AccessParts } from '../admission/watch-access.ts';
import { requirePrincipal } from '../http-exchange.ts';
import { readUsageSpan, wantsCsv } from './account-usage-route.ts';
import { newAnswer, objectSchema } from '../../domain/schema.ts';
import type { TypeOf } from '../../domain/schema.ts';
import { formatCsvLine } from './csv-text.ts';
import type { RouteDoc, RouteEntry } from './route.ts';
import {
  CHARGED_PARTS,
  SPAN_PARAMETERS,
  SUM,
  USAGE_COUNTS,
  USAGE_FORMATS,
  encodeParts,
  encodeSum,
} from './usage-doc.ts';

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

const ITEM = {
  id: { type: 'string', description: 'The task, the job or the call.' },
  settled_at: { type: 'string', format: 'date-time' },
  model: { type: 'string' },
  token: { type: 'string', description: 'The id of the token that ordered it.' },
  token_name: { type: 'string' },
  label: { type: 'string', description: 'Empty: it has none.' },
  basis: {
    enum: ['usage', 'estimate', 'hold', 'unknown'],
    description:
      'The source of the charge: usage that was reported or counted, an estimate (of the order, or of what an answer ' +
      'had delivered when it broke off), or the whole hold.',
  },
  ...SUM,
} as const;

/** A page of the list as JSON. */
const itemPageSchema = {
  title: 'ChargedItems',
  ...objectSchema({
    object: { const: 'list' },
    account: { type: 'string' },
    currency: { type: 'string' },
    from: { type: 'string', format: 'date-time' },
    to: { type: 'string', format: 'date-time', description: 'The exclusive end of the list.' },
    data: { type: 'array', items: objectSchema(ITEM) },
    has_more: { type: 'boolean' },
    next_after: { type: ['string', 'null'], description: 'The value of `after` for the next page.' },
  }),
} as const;
type ItemPage = TypeOf<typeof itemPageSchema>;
type Item = ItemPage['data'][number];
const PAGE_ANSWER = newAnswer(itemPageSchema, toJsonPage);

const DOC: RouteDoc = {
  tag: 'Usage',
  operationId: 'listChargedItems',
  summary: 'List the charged tasks and calls of the account one by one',
  description:
    'The oldest settlement comes first. JSON has a page, CSV has the whole period with at most 100000 charges. ' +
    'A list covers at most 366 days.',
  parameters: [
    ...SPAN_PARAMETERS,
    {
      name: 'limit',
      description: 'The most items of a page.',
      schema: { type: 'integer', minimum: 1, maximum: ITEMS_MAX },
    },
    {
      name: 'after',
      description: '`next_after` of the page before.',
      schema: { type: 'string', maxLength: AFTER_CHARACTERS_MAX },
    },
    {
      name: 'format',
      description: 'The format of the list. `Accept: text/csv` selects csv too.',
      schema: { enum: [...Object.keys(USAGE_FORMATS), ''], default: 'json' },
    },
  ],
  answerHeaders: ['content-disposition'],
  refuses: [400],
  answers: { 'application/json': PAGE_ANSWER.schema, 'text/csv': { type: 'string' } },
};

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
      const readPage = (asked: ItemQuestion): Promise<ListChargedItemsResponse> => chargedItems(asked, requestId);
      if (!wantsCsv(exchange, query)) {
        exchange.body = PAGE_ANSWER.encode(question, await readPage(question));
        return;
      }
      const { from, to } = question;
      const { total } = await usage({ accountId, from, to, groupBy: 'model' }, requestId);
      assertFits(Number(total.requests));
      // charges that come while the file is sent are not in it
      const whole = { accountId, from, to: Math.max(from + 1, Math.min(to, clock.now())), limit: ITEMS_MAX, after: '' };
      const first = await readPage(whole);
      closeWithoutAccess(parts, exchange);
      exchange.type = 'text/csv; charset=utf-8';
      exchange.attachment('reelgate-charges.csv');
      exchange.body = Readable.from(listCsvLines(whole, first, readPage));
    },
    doc: DOC,
  };
}

/** The first page is read before the answer begins, so a refusal still has a status of its own. */
async function* listCsvLines(
  question: ItemQuestion,
  first: ListChargedItemsResponse,
  readPage: (question: ItemQuestion) => Promise<ListChargedItemsResponse>,
): AsyncGenerator<string> {
  yield formatCsvLine(HEAD);
  let page = first;
  for (let pages = 1; pages <= FILE_PAGES_MAX; pages += 1) {
    yield page.items.map((item) => formatCsvLine(toCells(item, page.currency))).join('');
    if (page.continueAfter === '') return;
    page = await readPage({ ...question, after: page.continueAfter });
  }
}

function readPlace(query: URLSearchParams): { readonly limit: number; readonly after: string } {
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
  { items, currency, continueAfter }: ListChargedItemsResponse,
): ItemPage {
  return {
    object: 'list',
    account: accountId,
    currency,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    data: items.map(encodeItem),
    has_more: continueAfter !== '',
    next_after: continueAfter === '' ? null : continueAfter,
  };
}

function encodeItem(item: ChargedItem): Item {
  const usage = requireValue(item.usage);
  return {
    id: item.id,
    settled_at: new Date(toMs(requireValue(item.settledAt))).toISOString(),
    model: usage.key,
    token: item.tokenId,
    token_name: item.tokenName,
    label: item.label,
    basis: nameSource(item),
    ...encodeSum(usage),
    parts: encodeParts(item),
  };
}

function toCells(item: ChargedItem, currency: string): readonly string[] {
  const { id, settled_at, model, token, token_name, label, basis, amount, parts, ...counts } = encodeItem(item);
  return [
    ...[settled_at, id, model, token, token_name, basis, amount, currency],
    ...USAGE_COUNTS.map((name) => String(counts[name])),
    label,
    ...CHARGED_PARTS.map((name) => String(parts[name] ?? 0)),
  ];
}
