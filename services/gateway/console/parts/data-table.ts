import { html } from '../html.ts';
import type { ComponentChildren, VNode } from '../html.ts';
import { words } from '../words.ts';

export interface Column<Row> {
  readonly name: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Numbers stand at the right. */
  readonly isNumber?: boolean;
  /** The cell that names the row. */
  readonly isHead?: boolean;
}

export interface DataTableProps<Row> {
  /** Read out before the table. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Told instead of a table without rows. */
  readonly empty?: string;
}

/** A real table. On a narrow screen it scrolls by itself, and each cell can say the name of its column. */
export function DataTable<Row>({
  caption,
  columns,
  rows,
  keyOf,
  empty = words.pages.none,
}: DataTableProps<Row>): VNode {
  if (rows.length === 0) return html`<p class="quiet">${empty}</p>`;
  return html`<div class="table" tabindex="0" role="region" aria-label=${caption}>
    <table>
      <caption class="spoken">
        ${caption}
      </caption>
      <thead>
        <tr>
          ${columns.map(({ name, isNumber }) => html`<th scope="col" class=${isNumber === true ? 'number' : undefined}>${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr key=${keyOf(row)}>
              ${columns.map((column) => renderCell(column, row))}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function renderCell<Row>({ name, cell, isNumber, isHead }: Column<Row>, row: Row): VNode {
  const style = isNumber === true ? 'number' : undefined;
  return isHead === true
    ? html`<th scope="row" class=${style} data-name=${name}>${cell(row)}</th>`
    : html`<td class=${style} data-name=${name}>${cell(row)}</td>`;
}
