import type { Usage } from '@reelgate/proto/billing/v1/usage_service';
import { USAGE_GROUPS } from '../../clients/usage-client.ts';
import type { ReadUsage, UsageQuestion, Statement, UsageGrouping } from '../../clients/usage-client.ts';
import { readEnumName, readEnumValue } from '../../dialects/wire/query-values.ts';
import { invalid } from '../../dialects/wire/body-validator.ts';
import { parseTimestamp } from '../../domain/timestamp.ts';
import type { Period } from '../../domain/timestamp.ts';
import type { Exchange } from '../http-exchange.ts';
import { requirePrincipal } from '../http-exchange.ts';
import type { Clock } from '@reelgate/platform/clock';
import { formatCsvLine } from './csv-text.ts';
import type { RouteEntry } from './route.ts';
import {
  CHARGED_PARTS,
  USAGE_COUNTS,
  USAGE_FORMATS,
  USAGE_SPLITS,
  encodeParts,
  encodeSum,
  statementSchema,
  usageDoc,
} from './usage-doc.ts';
import { newAnswer } from '../../domain/schema.ts';
import type { Draft, TypeOf } from '../../domain/schema.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
const DAYS_DEFAULT = 30;

type StatementBody = TypeOf<typeof statementSchema>;
const STATEMENT_ANSWER = newAnswer(statementSchema, toJsonStatement);

/** The parts that the route of usage needs. */
export interface UsageRouteParts {
  readonly clock: Clock;
  readonly usage: ReadUsage;
}

/** Reads what the account of the token was charged for tasks and calls. */
export function usageRoute({ clock, usage }: UsageRouteParts): RouteEntry {
  return {
    kind: 'read',
    methods: ['GET'],
    path: '/v1/usage',
    token: { counts: 'reads' },
    handle: async (exchange) => {
      const query = new URLSearchParams(exchange.querystring);
      const question = { ...readUsageQuestion(query, clock.now()), accountId: requirePrincipal(exchange).accountId };
      const asCsv = wantsCsv(exchange, query);
      const statement = await usage(question, exchange.state.requestId);
      if (asCsv) {
        exchange.type = 'text/csv; charset=utf-8';
        exchange.body = toCsvStatement(question, statement);
      } else {
        exchange.body = STATEMENT_ANSWER.encode(question, statement);
      }
    },
    doc: {
      ...usageDoc,
      answers: { 'application/json': STATEMENT_ANSWER.schema, 'text/csv': { type: 'string' } },
    },
  };
}

export function readUsageQuestion(query: URLSearchParams, now: number): Omit<UsageQuestion, 'accountId'> {
  return {
    ...readUsageSpan(query, now),
    groupBy: readEnumName(query, 'group_by', USAGE_GROUPS) ?? 'day',
    splitBy: readEnumValue(query, 'split_by', USAGE_SPLITS),
  };
}

/** Without `to` the span ends with the current hour; without `from` it begins 30 days earlier. */
export function readUsageSpan(query: URLSearchParams, now: number): Period {
  const to = readTimestamp(query, 'to') ?? (Math.floor(now / HOUR_MS) + 1) * HOUR_MS;
  const from = readTimestamp(query, 'from') ?? Math.max(0, (Math.floor((to - 1) / DAY_MS) - DAYS_DEFAULT) * DAY_MS);
  return { from, to };
}

/** Reads a time of a query; undefined if it is not set. A date as the end includes its day. */
export function readTimestamp(query: URLSearchParams, name: 'from' | 'to'): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const timestamp = parseTimestamp(text, name === 'from' ? 'beginning' : 'end');
  if (timestamp === undefined)
    throw invalid(
      name,
      'must be a date such as 2026-11-30, a timestamp such as 2026-11-30T12:00:00Z, or Unix seconds',
      'invalid_request',
    );
  return timestamp;
}

/** The query overrides the header. A client that accepts anything gets JSON. */
export function wantsCsv(exchange: Exchange, query: URLSearchParams): boolean {
  return (
    (readEnumValue(query, 'format', USAGE_FORMATS) ??
      (exchange.accepts('json', 'text/csv') === 'text/csv' ? 'csv' : 'json')) === 'csv'
  );
}

/** The statement as a JSON body. */
function toJsonStatement(
  { accountId, from, to, groupBy, splitBy }: UsageQuestion,
  { groups, total, currency, truncated }: Statement,
): StatementBody {
  return dropUndefined({
    object: 'usage',
    account: accountId,
    currency,
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    group_by: groupBy,
    split_by: splitBy,
    data: groups.map((sum) => ({ ...readLabels(sum, groupBy, splitBy), ...encodeWhole(sum) })),
    total: encodeWhole(total),
    has_more: truncated,
  } satisfies Draft<StatementBody>);
}

/** The statement as CSV (RFC 4180). */
function toCsvStatement({ groupBy, splitBy }: UsageQuestion, { groups, currency }: Statement): string {
  const labels = [groupBy, ...(splitBy === undefined ? [] : [splitBy])].flatMap((one) =>
    one === 'token' ? ['token', 'name'] : [one],
  );
  // a new column goes last, so that the columns of older files keep their places
  const head = [...labels, 'amount', 'currency', ...USAGE_COUNTS, ...CHARGED_PARTS];
  const rows = groups.map((sum) => {
    const { amount, parts, ...counts } = encodeWhole(sum);
    return [
      ...Object.values(readLabels(sum, groupBy, splitBy)),
      amount,
      currency,
      ...USAGE_COUNTS.map((name) => String(counts[name])),
      ...CHARGED_PARTS.map((name) => String(parts[name] ?? 0)),
    ];
  });
  return [head, ...rows].map(formatCsvLine).join('');
}

type RowLabel = Partial<Record<UsageGrouping | 'name', string>>;

/** Names the group of a sum, and its part of the day if the days are split. */
function readLabels(
  { key, name, splitKey, splitName }: Usage,
  groupBy: UsageGrouping,
  splitBy: UsageQuestion['splitBy'],
): RowLabel {
  const label = (by: UsageGrouping, id: string, text: string): RowLabel =>
    by === 'token' ? { token: id, name: text } : { [by]: id };
  return { ...label(groupBy, key, name), ...(splitBy && label(splitBy, splitKey, splitName)) };
}

function encodeWhole(sum: Usage): StatementBody['total'] {
  return { ...encodeSum(sum), parts: encodeParts(sum) };
}
