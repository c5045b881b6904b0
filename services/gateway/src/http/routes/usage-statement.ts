import { USAGE_COUNTS } from '../../clients/usage-client.ts';
import type { Statement, UsageGrouping, UsageQuestion, UsageSum } from '../../clients/usage-client.ts';
import { formatDecimal } from '../../domain/decimal.ts';

/** The statement as a JSON body. */
export function toJsonStatement(
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
    data: groups.map((sum) => ({ ...toGroupLabel(groupBy, sum), ...toAmounts(sum) })),
    total: toAmounts(total),
    has_more: truncated,
  };
}

/** The statement as CSV (RFC 4180). */
export function toCsvStatement({ groupBy }: UsageQuestion, { groups, currency }: Statement): string {
  const head = [groupBy, ...(groupBy === 'token' ? ['name'] : []), 'amount', 'currency', ...USAGE_COUNTS];
  const rows = groups.map((sum) => [
    ...(Object.values(toGroupLabel(groupBy, sum)) as string[]),
    formatDecimal(sum.amountNanos),
    currency,
    ...USAGE_COUNTS.map((name) => String(sum.counts[name])),
  ]);
  return [head, ...rows].map((cells) => `${cells.map(escapeCell).join(',')}\r\n`).join('');
}

/** Escapes a cell. A leading quote keeps a spreadsheet from running the text as a formula. */
function escapeCell(text: string): string {
  const safe = /^[=+@\t]|^-(?![\d.]+$)/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function toGroupLabel(groupBy: UsageGrouping, { key, name }: UsageSum): object {
  return groupBy === 'token' ? { token: key, name } : { [groupBy]: key };
}

function toAmounts({ amountNanos, counts }: UsageSum): object {
  return { amount: formatDecimal(amountNanos), ...counts };
}
