import type { Clock } from '@reelgate/platform/clock';
import type { CurrencyMargins, MarginPart, MarginsView, MarginSums } from '../../../console/api/operator-margins.ts';
import type { MarginGroup, MarginsQuestion, MarginSum, ReadMargins } from '../../clients/margins-client.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import { readEnumName } from '../../dialects/wire/query-values.ts';
import { formatDecimal } from '../../domain/decimal.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import { wantsCsv } from '../../http/routes/account-usage-route.ts';
import { formatCsvLine } from '../../http/routes/csv-text.ts';
import { readTextFilter } from '../read-filters.ts';
import { readPeriod } from '../views/period.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** Of what the books keep by the hour. */
const DAYS_MAX = 92;
/** A longer period is shown by its days. */
const HOURLY_DAYS_MAX = 2;
const KEY_MAX = 256;
/** The groups that a page names, and a file. */
const GROUPS_SHOWN = 20;
const GROUPS_OF_FILE = 100;
const SPLITS = { channel: 'channel', model: 'model', account: 'account' } as const;
const REST = 'all others';
const NOTHING: MarginSum = {
  requests: 0,
  chargedNanos: 0n,
  costNanos: 0n,
  reportedRequests: 0,
  reportedChargedNanos: 0n,
  reportedCostNanos: 0n,
  uncostedRequests: 0,
  uncostedChargedNanos: 0n,
};

interface Parts {
  readonly clock: Clock;
  readonly margins: ReadMargins;
}

/** `GET /money/margins`: the margins of a period over time, for the page or as a file. */
export function marginsRoute({ clock, margins }: Parts): OperatorRouteEntry {
  return operatorRoute({
    method: 'GET',
    path: '/money/margins',
    name: 'getMargins',
    role: 'viewer',
    answer: async (exchange) => {
      const query = new URLSearchParams(exchange.querystring);
      const now = clock.now();
      const isFile = wantsCsv(exchange, query);
      const question = readQuestion(query, now, isFile ? GROUPS_OF_FILE : GROUPS_SHOWN);
      const groups = await margins(question, exchange.state);
      return isFile ? sendCsv(exchange, question, groups) : toMarginsView(question, groups, now);
    },
  });
}

function readQuestion(query: URLSearchParams, now: number, limit: number): MarginsQuestion {
  const { from, to } = readPeriod(query, now, DAYS_MAX);
  return {
    from,
    to,
    split: readEnumName(query, 'split', SPLITS) ?? 'channel',
    bucket: to - from <= HOURLY_DAYS_MAX * DAY_MS ? 'hour' : 'day',
    key: readTextFilter(query, 'key', KEY_MAX),
    limit,
  };
}

function toMarginsView(question: MarginsQuestion, groups: readonly MarginGroup[], now: number): MarginsView {
  const { from, to, split, bucket, key } = question;
  const parts = listParts(question);
  const byCurrency = Map.groupBy(groups, ({ currency }) => currency);
  return {
    ...{ from, to, split, bucket, parts, now },
    ...dropUndefined({ key }),
    currencies: [...byCurrency].map(([currency, own]) => toCurrencyMargins(currency, own, parts)),
  };
}

function listParts({ from, to, bucket }: MarginsQuestion): readonly number[] {
  const unit = bucket === 'hour' ? HOUR_MS : DAY_MS;
  return Array.from({ length: (to - from) / unit }, (_, at) => from + at * unit);
}

function toCurrencyMargins(
  currency: string,
  groups: readonly MarginGroup[],
  parts: readonly number[],
): CurrencyMargins {
  return {
    currency,
    groups: groups.map(({ key, isRest, total, parts: own }) => {
      const sums = parts.map((at) => toSums(own.get(at) ?? NOTHING));
      return {
        ...{ key, isRest, total: toSums(total) },
        measured: sums.map(({ measured }) => measured.margin),
        estimated: sums.map(({ estimated }) => estimated.margin),
      };
    }),
    total: toSums(groups.map(({ total }) => total).reduce(addSums, NOTHING)),
    byPart: parts.map((at) => toSums(groups.map((group) => group.parts.get(at) ?? NOTHING).reduce(addSums, NOTHING))),
  };
}

function addSums(left: MarginSum, right: MarginSum): MarginSum {
  return {
    requests: left.requests + right.requests,
    chargedNanos: left.chargedNanos + right.chargedNanos,
    costNanos: left.costNanos + right.costNanos,
    reportedRequests: left.reportedRequests + right.reportedRequests,
    reportedChargedNanos: left.reportedChargedNanos + right.reportedChargedNanos,
    reportedCostNanos: left.reportedCostNanos + right.reportedCostNanos,
    uncostedRequests: left.uncostedRequests + right.uncostedRequests,
    uncostedChargedNanos: left.uncostedChargedNanos + right.uncostedChargedNanos,
  };
}

function toSums(sum: MarginSum): MarginSums {
  const { requests, chargedNanos, costNanos, uncostedRequests } = sum;
  return {
    measured: toPart(sum.reportedRequests, sum.reportedChargedNanos, sum.reportedCostNanos),
    estimated: toPart(
      requests - sum.reportedRequests,
      chargedNanos - sum.reportedChargedNanos,
      costNanos - sum.reportedCostNanos,
    ),
    unknown: { requests: uncostedRequests, charged: formatDecimal(sum.uncostedChargedNanos) },
    charged: formatDecimal(chargedNanos),
    margin: formatDecimal(chargedNanos - costNanos),
    requests: requests + uncostedRequests,
  };
}

function toPart(requests: number, charged: bigint, cost: bigint): MarginPart {
  return {
    requests,
    charged: formatDecimal(charged),
    cost: formatDecimal(cost),
    margin: formatDecimal(charged - cost),
  };
}

const COLUMNS: readonly (readonly [name: string, cell: (sums: MarginSums) => string])[] = [
  ['requests', ({ requests }) => String(requests)],
  ['charged_with_known_cost', ({ charged }) => charged],
  ['margin', ({ margin }) => margin],
  ['measured_requests', ({ measured }) => String(measured.requests)],
  ['measured_charged', ({ measured }) => measured.charged],
  ['measured_cost', ({ measured }) => measured.cost],
  ['estimated_requests', ({ estimated }) => String(estimated.requests)],
  ['estimated_charged', ({ estimated }) => estimated.charged],
  ['estimated_cost', ({ estimated }) => estimated.cost],
  ['unknown_cost_requests', ({ unknown }) => String(unknown.requests)],
  ['unknown_cost_charged', ({ unknown }) => unknown.charged],
];

/** One line for each group and part of the period in which it has anything. */
function sendCsv(exchange: Exchange, { split, bucket }: MarginsQuestion, groups: readonly MarginGroup[]): string {
  exchange.type = 'text/csv; charset=utf-8';
  exchange.attachment('reelgate-margins.csv');
  const head = [bucket, split, 'is_rest', 'currency', ...COLUMNS.map(([name]) => name)];
  const lines = groups.flatMap(({ key, isRest, currency, parts }) =>
    [...parts].map(([at, sum]) => {
      const sums = toSums(sum);
      return [
        ...[new Date(at).toISOString(), isRest ? REST : key, String(isRest), currency],
        ...COLUMNS.map(([, cell]) => cell(sums)),
      ];
    }),
  );
  return [head, ...lines].map(formatCsvLine).join('');
}
