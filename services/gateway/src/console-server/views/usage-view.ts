import type { Budget, UsageBefore, UsageSeries, UsageSums, UsageView } from '../../../console/api/usage.ts';
import type { Statement, UsageQuestion, UsageSum } from '../../clients/usage-client.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import { readEnumValue } from '../../dialects/wire/query-values.ts';
import { formatDecimal } from '../../domain/decimal.ts';
import { listDays, readPeriod } from './period.ts';
import type { Period } from './period.ts';

const DAYS_MAX = 92;
const SPLITS = { model: 'model', token: 'token', label: 'label' } as const;

interface UsagePeriod extends Period {
  readonly split: keyof typeof SPLITS;
}

/** The days of a query and what they are split by: models, unless it says tokens or labels. */
export function readUsagePeriod(query: URLSearchParams, now: number): UsagePeriod {
  return { ...readPeriod(query, now, DAYS_MAX), split: readEnumValue(query, 'split', SPLITS) ?? 'model' };
}

export function usageQuestion(accountId: string, { from, to, split }: UsagePeriod): UsageQuestion {
  return { accountId, from, to, groupBy: 'day', splitBy: split };
}

/** The question about the same number of days just before, by model, token or label. */
export function questionBefore(accountId: string, period: UsagePeriod): UsageQuestion {
  return { accountId, ...toPeriodBefore(period), groupBy: period.split };
}

export interface UsageFacts {
  readonly statement: Statement;
  readonly before?: Statement;
  readonly budget?: Budget | undefined;
}

/** A statement by days as one series for each model, token or label, the largest first. */
export function usageView(period: UsagePeriod, { statement, before, budget }: UsageFacts): UsageView {
  const { from, to, split } = period;
  const { groups, total, ...rest } = statement;
  const days = listDays({ from, to });
  const bySeries = Map.groupBy(groups, ({ splitKey }) => splitKey);
  const series = [...bySeries].map(([key, sums]) => ({ amount: sumAmounts(sums), view: toSeries(key, sums, days) }));
  return {
    currency: rest.currency,
    from,
    to,
    split,
    days,
    series: series.toSorted((one, other) => Number(other.amount - one.amount)).map(({ view }) => view),
    total: sumUsage([total]),
    ...dropUndefined({ budget, before: before === undefined ? undefined : toUsageBefore(period, before) }),
    isTruncated: rest.truncated,
  };
}

function toUsageBefore(period: Period, { total, groups }: Statement): UsageBefore {
  return {
    ...toPeriodBefore(period),
    total: sumUsage([total]),
    amounts: Object.fromEntries(groups.map(({ key, amountNanos }) => [key, formatDecimal(amountNanos)])),
  };
}

function toPeriodBefore({ from, to }: Period): Period {
  return { from: Math.max(0, from - (to - from)), to: from };
}

function toSeries(key: string, sums: readonly UsageSum[], days: readonly string[]): UsageSeries {
  const byDay = Map.groupBy(sums, (sum) => sum.key);
  return {
    key,
    name: sums[0]?.splitName || key,
    amounts: days.map((day) => formatDecimal(sumAmounts(byDay.get(day) ?? []))),
    total: sumUsage(sums),
  };
}

function sumUsage(sums: readonly UsageSum[]): UsageSums {
  const count = (name: keyof UsageSum['counts']): number => sums.reduce((all, { counts }) => all + counts[name], 0);
  return {
    amount: formatDecimal(sumAmounts(sums)),
    requests: count('requests'),
    seconds: count('seconds'),
    inputTokens: count('input_tokens'),
    outputTokens: count('output_tokens'),
    images: count('images'),
  };
}

function sumAmounts(sums: readonly UsageSum[]): bigint {
  return sums.reduce((all, { amountNanos }) => all + amountNanos, 0n);
}
