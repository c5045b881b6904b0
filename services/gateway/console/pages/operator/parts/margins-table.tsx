import type { VNode } from 'preact';
import { nameMarginGroup } from './margin-sums.ts';
import type { CurrencyMargins, MarginGroup, MarginPart, MarginSums, MarginsView } from './margin-sums.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import type { Column } from '../../../parts/data-table.tsx';
import { moneyText, shareText } from '../../../parts/number-text.tsx';
import { marginsWords as words } from '../margins-words.ts';
import { chooseStyle, namePart } from './margins-chart.tsx';

export interface MarginsTableProps {
  readonly view: MarginsView;
  readonly margins: CurrencyMargins;
}

export interface GroupTableProps extends MarginsTableProps {
  /** The query of the page. */
  readonly query: URLSearchParams;
}

interface GroupRow {
  readonly name: string;
  readonly sums: MarginSums;
  /** Undefined for all groups together. */
  readonly group: MarginGroup | undefined;
  readonly style: string;
}

/** The sums of each channel, model or account, and of all of them. */
export function GroupTable({ view, margins, query }: GroupTableProps): VNode {
  const { split, key } = view;
  const { currency, groups, total } = margins;
  const rows: readonly GroupRow[] = [
    ...groups.map((group, at) => ({
      ...{ name: nameMarginGroup(group), sums: group.total, group },
      style: chooseStyle(at, group),
    })),
    ...(groups.length > 1 ? [{ name: words.total, sums: total, group: undefined, style: '' }] : []),
  ];
  const columns: readonly Column<GroupRow>[] = [
    { name: words.splits[split], isHead: true, cell: (row) => renderName(row, split) },
    ...listSumColumns<GroupRow>(currency, ({ sums }) => sums),
    ...(key === '' ? [{ name: words.overTime, isBare: true, cell: (row: GroupRow) => renderOnly(row, query) }] : []),
  ];
  return (
    <DataTable
      caption={words.groups[split]}
      columns={columns}
      rows={rows}
      keyOf={({ group }) => (group === undefined ? 'all' : `${group.isRest ? 'rest' : 'one'} ${group.key}`)}
    />
  );
}

function renderName({ name, group, style }: GroupRow, split: MarginsView['split']): VNode {
  if (group === undefined) return <strong>{name}</strong>;
  const href = group.isRest || group.key === '' ? undefined : linkTo(split, group.key);
  return (
    <>
      <span class={`swatch ${style}`} aria-hidden="true" />
      {href === undefined ? name : <a href={href}>{name}</a>}
    </>
  );
}

function linkTo(split: MarginsView['split'], key: string): string {
  const id = encodeURIComponent(key);
  return {
    channel: `/console/channels/${id}`,
    account: `/console/accounts/${id}`,
    model: `/console/tasks?model=${id}`,
  }[split];
}

/** A link to the margins of one group alone. */
function renderOnly({ name, group }: GroupRow, query: URLSearchParams): VNode | null {
  if (group === undefined || group.isRest || group.key === '') return null;
  const own = new URLSearchParams(query);
  own.set('key', group.key);
  return (
    <a class="button quiet" href={`/console/money/margins?${own.toString()}`} aria-label={words.overTimeOf(name)}>
      {words.overTime}
    </a>
  );
}

interface PartRow {
  readonly at: number;
  readonly sums: MarginSums;
}

/** The sums of each hour or day that has any, the newest first. */
export function PartTable({ view: { parts, bucket }, margins: { currency, byPart } }: MarginsTableProps): VNode {
  const rows = byPart
    .map((sums, place): PartRow => ({ at: parts[place] ?? 0, sums }))
    .filter(({ sums }) => sums.requests > 0)
    .toReversed();
  const columns: readonly Column<PartRow>[] = [
    {
      name: words.part[bucket],
      isHead: true,
      cell: ({ at }) => <time datetime={new Date(at).toISOString()}>{namePart(at, bucket)}</time>,
    },
    ...listSumColumns<PartRow>(currency, ({ sums }) => sums),
  ];
  return <DataTable caption={words.parts[bucket]} columns={columns} rows={rows} keyOf={({ at }) => String(at)} />;
}

function listSumColumns<Row>(currency: string, sumsOf: (row: Row) => MarginSums): readonly Column<Row>[] {
  const costText = ({ cost, requests }: MarginPart): string =>
    requests === 0 ? words.none : words.costPart(moneyText(cost, currency), requests);
  const column = (name: string, cell: (sums: MarginSums) => VNode | string): Column<Row> => ({
    ...{ name, isNumber: true },
    cell: (row) => cell(sumsOf(row)),
  });
  return [
    column(words.charged, ({ charged }) => moneyText(charged, currency)),
    column(words.measured, ({ measured }) => costText(measured)),
    column(words.estimated, ({ estimated }) => costText(estimated)),
    column(words.margin, ({ margin }) => renderMargin(margin, currency)),
    column(words.share, ({ margin, charged }) => shareText(margin, charged) ?? words.none),
    column(words.requests, ({ requests }) => requests.toLocaleString('en')),
    column(words.costUnknown, ({ unknown }) =>
      unknown.requests === 0 ? words.none : words.unknownPart(moneyText(unknown.charged, currency), unknown.requests),
    ),
  ];
}

/** A loss is told by its sign and a word, not by its colour alone. */
export function renderMargin(margin: string, currency: string): VNode | string {
  return margin.startsWith('-') ? (
    <span class="bad">
      {moneyText(margin, currency)} <span class="small">{words.loss}</span>
    </span>
  ) : (
    moneyText(margin, currency)
  );
}
