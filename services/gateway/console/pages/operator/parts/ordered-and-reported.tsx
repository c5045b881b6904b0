import type { VNode } from 'preact';
import type { OperatorTaskView } from '../../../api/operator-tasks.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import type { Column } from '../../../parts/data-table.tsx';
import { parseNanos, moneyText } from '../../../parts/number-text.tsx';
import { attentionWords } from '../attention-words.ts';
import type { AttentionRow } from './attention-rows.ts';

const words = attentionWords.compared;
const NONE = '–';

/** One quantity of the work, with its unit. */
export interface ComparedRow {
  readonly name: string;
  readonly ordered: string;
  readonly reported: string;
}

const COLUMNS: readonly Column<ComparedRow>[] = [
  { name: words.quantity, cell: ({ name }) => name, isHead: true },
  { name: words.ordered, cell: ({ ordered }) => ordered, isNumber: true },
  { name: words.reported, cell: ({ reported }) => reported, isNumber: true },
];

export interface OrderedAndReportedProps {
  readonly view: Pick<OperatorTaskView, 'task' | 'usage' | 'money'>;
  readonly row: Pick<AttentionRow, 'decisions' | 'held'>;
}

/** Shows the order and its hold beside the report of the upstream and its cost. */
export function OrderedAndReported({ view, row }: OrderedAndReportedProps): VNode {
  return (
    <div class="compared">
      <DataTable
        caption={words.caption}
        columns={COLUMNS}
        rows={compareQuantities(view, row)}
        keyOf={({ name }) => name}
      />
      {view.usage === undefined ? <p class="small quiet">{words.nothingReported}</p> : null}
    </div>
  );
}

/** The quantities that were ordered or used, and the money that follows from each. */
export function compareQuantities(
  view: OrderedAndReportedProps['view'],
  row: OrderedAndReportedProps['row'],
): readonly ComparedRow[] {
  const told = listQuantities(view)
    .filter(({ ordered, reported }) => ordered !== undefined || (reported ?? 0) > 0)
    .map(({ name, ordered, reported, write }) => ({
      name,
      ordered: ordered === undefined ? NONE : write(ordered),
      reported: reported === undefined ? NONE : write(reported),
    }));
  return [...told, ...priceRow(row, view.usage !== undefined)];
}

interface Quantity {
  readonly name: string;
  readonly ordered?: number | undefined;
  readonly reported: number | undefined;
  readonly write: (value: number) => string;
}

function listQuantities({ task, usage = {}, money }: OrderedAndReportedProps['view']): readonly Quantity[] {
  const { input_video_seconds: input, seconds, input_tokens, output_tokens } = money?.facts ?? {};
  const output = task.seconds > 0 ? task.seconds : seconds;
  const images = task.references.filter(({ kind }) => kind === 'image').length;
  const inSeconds = { write: words.seconds };
  const counted = { write: words.count };
  return [
    {
      name: words.totalSeconds,
      ordered: output === undefined ? input : output + (input ?? 0),
      reported: usage.totalSeconds,
      ...inSeconds,
    },
    { name: words.inputSeconds, ordered: input, reported: usage.inputSeconds, ...inSeconds },
    { name: words.outputSeconds, ordered: output, reported: usage.outputSeconds, ...inSeconds },
    { name: words.images, ordered: images === 0 ? undefined : images, reported: usage.inputImageCount, ...counted },
    { name: words.sound, reported: usage.inputAudioSeconds, ...inSeconds },
    { name: words.inputTokens, ordered: input_tokens, reported: usage.promptTokens, ...counted },
    { name: words.outputTokens, ordered: output_tokens, reported: usage.completionTokens, ...counted },
    { name: words.totalTokens, reported: usage.totalTokens, ...counted },
  ];
}

function priceRow({ decisions, held }: OrderedAndReportedProps['row'], isReported: boolean): readonly ComparedRow[] {
  if (held === undefined) return [];
  const charge = decisions.find(({ resolution }) => resolution === 'completed')?.charge;
  const reported =
    isReported && charge !== undefined
      ? `${moneyText(charge.amount, charge.currency)}${timesText(charge.amount, held.amount)}`
      : NONE;
  return [{ name: words.price, ordered: words.held(moneyText(held.amount, held.currency)), reported }];
}

/** Says how many times the hold the price of the usage is; empty if it is within the hold. */
function timesText(charge: string, held: string): string {
  const [charged = 0n, reserved = 0n] = [parseNanos(charge), parseNanos(held)];
  if (reserved === 0n || charged <= reserved) return '';
  const tenths = (charged * 10n) / reserved;
  const times = tenths < 100n ? (Number(tenths) / 10).toFixed(1) : (tenths / 10n).toLocaleString('en');
  return words.times(times);
}
