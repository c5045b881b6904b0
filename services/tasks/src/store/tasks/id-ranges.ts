import { firstIdAt } from '@reelgate/platform/ids';
import type { SqlValue } from '@reelgate/platform/sql/sql';
import { searchable } from '../columns.ts';
import type { Page } from '../task-store.ts';
import type { Bind, CreationTimes } from './task-rows.ts';

/** Values of a statement, in the order of their parameters. */
export function newValues(...first: readonly SqlValue[]): { readonly values: SqlValue[]; readonly bind: Bind } {
  const values = [...first];
  return { values, bind: (value) => `$${values.push(value)}` };
}

/** The ids of a page, without both bounds. */
export interface IdRange {
  readonly above?: string | undefined;
  readonly below?: string | undefined;
}

/** Ids sort by the time of creation, so times are ids. */
export function toIdRange(
  { createdFrom, createdBefore }: CreationTimes,
  { after, ascending = false }: StepPage,
): IdRange {
  const from = createdFrom === undefined ? [] : [firstIdAt('task', createdFrom)];
  const before = createdBefore === undefined ? [] : [firstIdAt('task', createdBefore)];
  const position = after === undefined ? [] : [after];
  return {
    above: [...from, ...(ascending ? position : [])].toSorted().at(-1),
    below: [...before, ...(ascending ? [] : position)].toSorted().at(0),
  };
}

export function buildRange({ above, below }: IdRange, bind: Bind): string {
  const isAbove = above === undefined ? '' : ` AND id > ${bind(searchable(above))}`;
  return below === undefined ? isAbove : `${isAbove} AND id < ${bind(searchable(below))}`;
}

export type StepPage = Omit<Page, 'offset'>;
export type Direction = 'ASC' | 'DESC';

export function toDirection({ ascending = false }: StepPage): Direction {
  return ascending ? 'ASC' : 'DESC';
}
