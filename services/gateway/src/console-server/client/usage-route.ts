import type { Budget, UsageBefore, UsageSeries, UsageSums, UsageView } from '../../../console/api/usage.ts';
import type { AccountCaller } from '../../clients/caller.ts';
import type { RouteEntry } from '../../http/routes/route.ts';
import { consoleRoute } from '../console-route.ts';
import { ifReadable, toAccountCaller } from './task-parts.ts';
import type { TaskPageParts } from './task-parts.ts';
import type { Usage } from '@reelgate/proto/billing/v1/usage_service';
import type { Statement, UsageQuestion } from '../../clients/usage-client.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import { readEnumValue } from '../../dialects/wire/query-values.ts';
import { formatDecimal } from '../../domain/decimal.ts';
import { listDays, readPeriod } from '../views/period.ts';
import type { Period } from '../../domain/timestamp.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const DAYS_MAX = 92;
const SPLITS = { model: 'model', token: 'token', label: 'label' } as const;
/** The spending of this many whole days is the pace. */
const PACE_DAYS = 7;
/** A date further away says nothing. */
const DAYS_SHOWN_MAX = 3660n;

/** `GET /usage`: what the account was charged, by day and by model or token, before, and how long its money lasts. */
export function consoleUsageRoute(parts: TaskPageParts): RouteEntry {
  const { clock, log, usage } = parts;
  return consoleRoute({
    method: 'GET',
    path: '/usage',
    name: 'getUsage',
    answer: async (exchange) => {
      const period = readUsagePeriod(new URLSearchParams(exchange.querystring), clock.now());
      const caller = toAccountCaller(exchange);
      const [statement, before, budget] = await Promise.all([
        usage(usageQuestion(caller.accountId, period), caller.requestId),
        usage(questionBefore(caller.accountId, period), caller.requestId),
        ifReadable(log, 'budget', readBudget(parts, caller)),
      ]);
      return usageView(period, { statement, before, budget });
    },
  });
}

async function readBudget({ clock, books, usage }: TaskPageParts, caller: AccountCaller): Promise<Budget> {
  const now = clock.now();
  const today = Math.floor(now / DAY_MS) * DAY_MS;
  const [{ balanceNanos, heldNanos, currency }, { total }] = await Promise.all([
    books.account(caller),
    usage(
      { accountId: caller.accountId, from: today - PACE_DAYS * DAY_MS, to: today, groupBy: 'model' },
      caller.requestId,
    ),
  ]);
  return projectBudget({ freeNanos: balanceNanos - heldNanos, spentNanos: total.amountNanos, currency, now });
}

interface UsagePeriod extends Period {
  readonly split: keyof typeof SPLITS;
}

/** The days of a query and what they are split by: models, unless it says tokens or labels. */
function readUsagePeriod(query: URLSearchParams, now: number): UsagePeriod {
  return { ...readPeriod(query, now, DAYS_MAX), split: readEnumValue(query, 'split', SPLITS) ?? 'model' };
}

function usageQuestion(accountId: string, { from, to, split }: UsagePeriod): UsageQuestion {
  return { accountId, from, to, groupBy: 'day', splitBy: split };
}

/** The question about the same number of days just before, by model, token or label. */
function questionBefore(accountId: string, period: UsagePeriod): UsageQuestion {
  return { accountId, ...toPeriodBefore(period), groupBy: period.split };
}

interface UsageFacts {
  readonly statement: Statement;
  readonly before?: Statement;
  readonly budget?: Budget | undefined;
}

/** A statement by days as one series for each model, token or label, the largest first. */
function usageView(period: UsagePeriod, { statement, before, budget }: UsageFacts): UsageView {
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

function toSeries(key: string, sums: readonly Usage[], days: readonly string[]): UsageSeries {
  const byDay = Map.groupBy(sums, (sum) => sum.key);
  return {
    key,
    name: sums[0]?.splitName || key,
    amounts: days.map((day) => formatDecimal(sumAmounts(byDay.get(day) ?? []))),
    total: sumUsage(sums),
  };
}

type Quantity = 'requests' | 'seconds' | 'inputTokens' | 'outputTokens' | 'images';

function sumUsage(sums: readonly Usage[]): UsageSums {
  const count = (name: Quantity): number => sums.reduce((all, sum) => all + Number(sum[name]), 0);
  return {
    amount: formatDecimal(sumAmounts(sums)),
    requests: count('requests'),
    seconds: count('seconds'),
    inputTokens: count('inputTokens'),
    outputTokens: count('outputTokens'),
    images: count('images'),
  };
}

function sumAmounts(sums: readonly Usage[]): bigint {
  return sums.reduce((all, { amountNanos }) => all + amountNanos, 0n);
}

interface BudgetFacts {
  /** The money that can still be spent, in billionths. */
  readonly freeNanos: bigint;
  /** The spending of the last `PACE_DAYS` whole days, in billionths. */
  readonly spentNanos: bigint;
  readonly currency: string;
  readonly now: number;
}

/** The day on which the free money is spent if each day costs as much as the mean of the last days. */
export function projectBudget({ freeNanos, spentNanos, currency, now }: BudgetFacts): Budget {
  const perDay = spentNanos / BigInt(PACE_DAYS);
  const free = { amount: formatDecimal(freeNanos), currency };
  const budget = { free, perDay: { amount: formatDecimal(perDay), currency } };
  if (freeNanos <= 0n) return { ...budget, reachedAt: now };
  if (perDay <= 0n || freeNanos / perDay > DAYS_SHOWN_MAX) return budget;
  const wholeDays = freeNanos / perDay;
  const rest = Number(((freeNanos % perDay) * 1000n) / perDay) / 1000;
  return { ...budget, reachedAt: now + Math.round((Number(wholeDays) + rest) * DAY_MS) };
}
