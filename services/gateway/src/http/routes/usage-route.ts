import { USAGE_COUNTS } from '../../clients/usage-client.ts';
import type { Statement, UsageGrouping, UsageQuestion, UsageSum } from '../../clients/usage-client.ts';
import { wordOf } from '../../dialects/wire/query-values.ts';
import { invalid } from '../../dialects/wire/body-validator.ts';
import { parseTimestamp } from '../../domain/timestamp.ts';
import { decimalOf } from './estimate-route.ts';
import type { Exchange } from '../exchange.ts';
import { principalOf } from '../exchange.ts';
import type { GatewayParts } from '../gateway-parts.ts';
import type { RouteEntry } from './route.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const DAYS_OTHERWISE = 30;
const GROUPINGS: Readonly<Record<UsageGrouping, UsageGrouping>> = { model: 'model', day: 'day', token: 'token' };
const FORMATS = { json: 'json', csv: 'csv' } as const;

const count = { type: 'integer' };
const SUM = {
  amount: { type: 'string', description: 'A decimal.' },
  ...Object.fromEntries(USAGE_COUNTS.map((name) => [name, count])),
};
const moment = {
  type: 'string',
  anyOf: [{ format: 'date' }, { format: 'date-time' }, { pattern: '^([0-9]{1,11})?$' }],
};
const MOMENT = 'A day (UTC), an RFC 3339 time or unix seconds.';

/** What the account of the token was charged, tasks and calls together. */
export function usageRoute({ clock, usage }: Pick<GatewayParts, 'clock' | 'usage'>): RouteEntry {
  return {
    methods: ['GET'],
    path: '/v1/usage',
    token: { counts: 'reads' },
    handle: async (exchange) => {
      const query = new URLSearchParams(exchange.querystring);
      const question = { ...readQuestion(query, clock.now()), accountId: principalOf(exchange).accountId };
      const asCsv = wantsCsv(exchange, query);
      const statement = await usage(question, exchange.state.requestId);
      if (asCsv) {
        exchange.type = 'text/csv; charset=utf-8';
        exchange.body = csvOf(question, statement);
      } else {
        exchange.body = jsonOf(question, statement);
      }
    },
    doc: {
      tag: 'Usage',
      operationId: 'getUsage',
      summary: 'Say what the account was charged, tasks and calls together',
      description: 'The time of settlement decides where a charge belongs, in UTC. At most 366 days and 1000 groups.',
      parameters: [
        {
          name: 'from',
          description: `${MOMENT} Default: 30 days ago.`,
          schema: { ...moment, examples: ['2026-11-01'] },
        },
        {
          name: 'to',
          description: `${MOMENT} A day is part of the time, a moment is not. Default: now.`,
          schema: { ...moment, examples: ['2026-11-30'] },
        },
        {
          name: 'group_by',
          description: 'What a line is for.',
          schema: { enum: [...Object.keys(GROUPINGS), ''], default: 'day' },
        },
        {
          name: 'format',
          description: '`Accept: text/csv` does the same.',
          schema: { enum: [...Object.keys(FORMATS), ''], default: 'json' },
        },
      ],
      refuses: [400],
      answers: {
        'application/json': {
          title: 'UsageStatement',
          type: 'object',
          required: ['object', 'account', 'currency', 'from', 'to', 'group_by', 'data', 'total', 'has_more'],
          additionalProperties: false,
          properties: {
            object: { const: 'usage' },
            account: { type: 'string' },
            currency: { type: 'string' },
            from: { type: 'string', format: 'date-time' },
            to: { type: 'string', format: 'date-time', description: 'Not part of the time.' },
            group_by: { enum: Object.keys(GROUPINGS) },
            data: {
              type: 'array',
              items: {
                type: 'object',
                required: Object.keys(SUM),
                additionalProperties: false,
                description: 'Has its group as `model`, `day`, or `token` and `name`.',
                properties: {
                  model: { type: 'string' },
                  day: { type: 'string', format: 'date' },
                  token: { type: 'string' },
                  name: { type: 'string' },
                  ...SUM,
                },
              },
            },
            total: { type: 'object', required: Object.keys(SUM), additionalProperties: false, properties: SUM },
            has_more: { type: 'boolean', description: 'There are more groups; the total covers them.' },
          },
        },
        'text/csv': { type: 'string' },
      },
    },
  };
}

/** Without an end it ends with the hour that has begun; without a beginning it begins with the day thirty days before. */
function readQuestion(query: URLSearchParams, now: number): Omit<UsageQuestion, 'accountId'> {
  const to = readTimestamp(query, 'to') ?? (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;
  const from = readTimestamp(query, 'from') ?? Math.max(0, (Math.floor((to - 1) / DAY_MS) - DAYS_OTHERWISE) * DAY_MS);
  return { from, to, groupBy: wordOf(query, 'group_by', GROUPINGS) ?? 'day' };
}

function readTimestamp(query: URLSearchParams, name: 'from' | 'to'): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const moment = parseTimestamp(text, name === 'from' ? 'beginning' : 'end');
  if (moment === undefined)
    throw invalid(
      name,
      'must be a day such as 2026-11-30, a time such as 2026-11-30T12:00:00Z, or unix seconds',
      'invalid_request',
    );
  return moment;
}

/** The query wins over the header; a client that takes anything gets JSON. */
function wantsCsv(exchange: Exchange, query: URLSearchParams): boolean {
  return (
    (wordOf(query, 'format', FORMATS) ?? (exchange.accepts('json', 'text/csv') === 'text/csv' ? 'csv' : 'json')) ===
    'csv'
  );
}

function jsonOf(
  { accountId, from, to, groupBy }: UsageQuestion,
  { groups, total, currency, truncated }: Statement,
): object {
  return {
    object: 'usage',
    account: accountId,
    currency,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    group_by: groupBy,
    data: groups.map((sum) => ({ ...labelOf(groupBy, sum), ...amounts(sum) })),
    total: amounts(total),
    has_more: truncated,
  };
}

function labelOf(groupBy: UsageGrouping, { key, name }: UsageSum): object {
  return groupBy === 'token' ? { token: key, name } : { [groupBy]: key };
}

function amounts({ amountNanos, counts }: UsageSum): object {
  return { amount: decimalOf(amountNanos), ...counts };
}

/** RFC 4180. */
function csvOf({ groupBy }: UsageQuestion, { groups, currency }: Statement): string {
  const head = [groupBy, ...(groupBy === 'token' ? ['name'] : []), 'amount', 'currency', ...USAGE_COUNTS];
  const rows = groups.map((sum) => [
    ...(Object.values(labelOf(groupBy, sum)) as string[]),
    decimalOf(sum.amountNanos),
    currency,
    ...USAGE_COUNTS.map((name) => String(sum.counts[name])),
  ]);
  return [head, ...rows].map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

/** What a table program would take for a formula is made a text. */
function cellOf(text: string): string {
  const safe = /^[=+@\t]|^-(?![\d.]+$)/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
