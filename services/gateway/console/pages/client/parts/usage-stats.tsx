import type { VNode } from 'preact';
import type { Budget, UsageBefore, UsageView } from '../../../api/usage.ts';
import { formatMoney, moneyText, parseNanos, shareText } from '../../../parts/number-text.tsx';
import { Stats } from '../../../parts/stats.tsx';
import type { Stat } from '../../../parts/stats.tsx';
import { usageWords as words } from '../usage-words.ts';

const ISO_DAY_CHARACTERS = 10;
const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** The charges, their change from the period before, and how long the money of the account lasts. */
export function UsageStats({ usage }: { usage: UsageView }): VNode {
  const { total, before, budget, currency, days } = usage;
  const stats: readonly Stat[] = [
    {
      name: words.spent,
      value: moneyText(total.amount, currency),
      ...(before === undefined ? {} : { note: describeChange(total.amount, before, days.length, currency) }),
    },
    { name: words.requests, value: total.requests.toLocaleString('en') },
    ...(budget === undefined ? [] : budgetStats(budget)),
  ];
  return <Stats stats={stats} />;
}

/** Compares with the period before, such as `12.0 % more than in the 30 days before ($4.20)`. */
export function describeChange(amount: string, before: UsageBefore, days: number, currency: string): string {
  const period = words.daysBefore(days);
  const difference = (parseNanos(amount) ?? 0n) - (parseNanos(before.total.amount) ?? 0n);
  if (difference === 0n) return words.beforeSame(period);
  const share = changeText(amount, before.total.amount);
  if (share === undefined) return words.beforeNone(period);
  return words.beforeChange(
    share.replace(/^[+−]/, ''),
    difference > 0n,
    period,
    moneyText(before.total.amount, currency),
  );
}

/** The change from one amount to another, such as `+12.0 %`, or undefined if the first amount is zero. */
export function changeText(amount: string, before: string): string | undefined {
  const [now, then] = [parseNanos(amount) ?? 0n, parseNanos(before) ?? 0n];
  const share = shareText(String(now - then), String(then));
  return share === undefined || share.startsWith('−') ? share : `+${share}`;
}

function budgetStats({ free, perDay, reachedAt }: Budget): readonly Stat[] {
  return [
    { name: words.perDay, value: formatMoney(perDay), note: words.perDayNote },
    {
      name: words.left,
      value: <span class={free.amount.startsWith('-') ? 'bad' : undefined}>{formatMoney(free)}</span>,
      note: describeEnd(free.amount, reachedAt),
    },
  ];
}

function describeEnd(free: string, reachedAt: number | undefined): VNode | string {
  if ((parseNanos(free) ?? 0n) <= 0n) return words.leftNone;
  if (reachedAt === undefined) return words.leftLong;
  const date = new Date(reachedAt);
  return <time datetime={date.toISOString().slice(0, ISO_DAY_CHARACTERS)}>{words.leftUntil(DAY.format(date))}</time>;
}
