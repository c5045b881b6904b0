import { USAGE_COUNTS } from '../../clients/usage-client.ts';
import type { Statement, UsageGrouping, UsageQuestion, UsageSum } from '../../clients/usage-client.ts';
import { decimalOf } from '../../domain/decimal.ts';

/** The statement as a JSON body. */
export function jsonStatement(
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

/** The statement as CSV (RFC 4180). */
export function csvStatement({ groupBy }: UsageQuestion, { groups, currency }: Statement): string {
  const head = [groupBy, ...(groupBy === 'token' ? ['name'] : []), 'amount', 'currency', ...USAGE_COUNTS];
  const rows = groups.map((sum) => [
    ...(Object.values(labelOf(groupBy, sum)) as string[]),
    decimalOf(sum.amountNanos),
    currency,
    ...USAGE_COUNTS.map((name) => String(sum.counts[name])),
  ]);
  return [head, ...rows].map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

/** Escapes a cell. A leading quote keeps a spreadsheet from running the text as a formula. */
function cellOf(text: string): string {
  const safe = /^[=+@\t]|^-(?![\d.]+$)/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function labelOf(groupBy: UsageGrouping, { key, name }: UsageSum): object {
  return groupBy === 'token' ? { token: key, name } : { [groupBy]: key };
}

function amounts({ amountNanos, counts }: UsageSum): object {
  return { amount: decimalOf(amountNanos), ...counts };
}
