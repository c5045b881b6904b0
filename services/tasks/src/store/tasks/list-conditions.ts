import { firstIdAt } from '@reelgate/platform/ids';
import type { SqlValue } from '@reelgate/platform/sql/sql';
import type { ListFilter, Page } from '../task-store.ts';
import { placeholders, searchable } from './task-rows.ts';
import { VISIBLE } from './visible.ts';

/** The ids of a page, without both bounds. */
export interface IdRange {
  readonly above?: string | undefined;
  readonly below?: string | undefined;
}

/** Ids sort by the time of creation, so times are ids. */
export function idRange(
  { createdFrom, createdBefore }: Pick<ListFilter, 'createdFrom' | 'createdBefore'>,
  { after, ascending = false }: Pick<Page, 'after' | 'ascending'> = {},
): IdRange {
  const from = createdFrom === undefined ? undefined : firstIdAt('task', createdFrom);
  const before = createdBefore === undefined ? undefined : firstIdAt('task', createdBefore);
  return {
    above: pickLaterId(from, ascending ? after : undefined),
    below: pickEarlierId(before, ascending ? undefined : after),
  };
}

function pickLaterId(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other > one) ? other : one;
}

function pickEarlierId(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other < one) ? other : one;
}

/** The condition of a range, with parameters after those of `values`, to which it adds its own. */
export function buildRangeCondition({ above, below }: IdRange, values: SqlValue[]): string {
  const parts: string[] = [];
  for (const [operator, id] of [
    ['>', above],
    ['<', below],
  ] as const) {
    if (id === undefined) continue;
    values.push(searchable(id));
    parts.push(` AND id ${operator} $${values.length}`);
  }
  return parts.join('');
}

/** The condition of a filter without its times. */
export function conditions(filter: ListFilter): { where: string; values: SqlValue[] } {
  const values: SqlValue[] = [];
  const parts = [filter.hidden === true ? '1 = 1' : VISIBLE];
  const add = (column: string, some: readonly string[] | undefined): void => {
    if (some === undefined || some.length === 0) return;
    parts.push(`${column} IN (${placeholders(some.length, values.length + 1)})`);
    values.push(...some.map(searchable));
  };
  const one = (value: string | undefined): readonly string[] => (value === undefined ? [] : [value]);
  add('account_id', one(filter.accountId));
  add('state', filter.states);
  add('id', filter.taskIds);
  add('model', one(filter.model));
  add('kind', one(filter.kind));
  add('channel', one(filter.channel));
  if (filter.channel !== undefined) parts.push('upstream_account IS NOT NULL');
  if (filter.upstream !== undefined) {
    if (filter.upstream.accounts.length === 0) parts.push('1 = 0');
    add('upstream_account', filter.upstream.accounts);
    add('upstream_id', one(filter.upstream.id));
  }
  return { where: parts.join(' AND '), values };
}
