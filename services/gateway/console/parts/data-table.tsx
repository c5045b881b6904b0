import { Fragment } from 'preact';
import type { ComponentChildren, VNode } from 'preact';
import { words } from '../words.ts';

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers stand at the right. */
  readonly isNumber?: boolean;
  /** The cell that names the row. */
  readonly isHead?: boolean;
  /** A picture or a button: on a phone it has no name before it. */
  readonly isBare?: boolean;
}

export interface DataTableProps<Row> {
  /** Read out before the table. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Told instead of a table without rows. */
  readonly empty?: string | VNode;
}

/**
 * A real table. On a phone its rows are stacked, and each value stands behind the name of its column; the roles keep
 * the meaning that the stacked elements lose.
 */
export function DataTable<Row>({
  caption,
  columns,
  rows,
  keyOf,
  empty = words.pages.none,
}: DataTableProps<Row>): VNode {
  if (rows.length === 0) return typeof empty === 'string' ? <p class="empty">{empty}</p> : empty;
  return (
    <div class="table" tabindex={0} role="region" aria-label={caption}>
      <table class="stacks" role="table">
        <caption class="spoken">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ name, isNumber }) => (
              <th scope="col" role="columnheader" class={isNumber === true ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <tr role="row" key={keyOf(row)}>
              {columns.map((column) => renderCell(column, row))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function renderCell<Row>({ name, cell, isNumber, isHead, isBare }: Column<Row>, row: Row): VNode {
  const style = isNumber === true ? 'number' : undefined;
  const named = isBare === true ? undefined : name;
  return isHead === true ? (
    <th scope="row" role="rowheader" class={style}>
      {cell(row)}
    </th>
  ) : (
    <td role="cell" class={style} data-name={named}>
      {cell(row)}
    </td>
  );
}

export type Fact = readonly [name: string, value: ComponentChildren];

/** Names, each with its value behind it. */
export function Facts({ facts, style = '' }: { facts: readonly Fact[]; style?: 'beside' | 'sums' | '' }): VNode {
  return (
    <dl class={`facts ${style}`.trim()}>
      {facts.map(([name, value], at) => (
        <Fragment key={at}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
