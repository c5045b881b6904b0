import type { VNode } from 'preact';
import type { OperatorTaskView } from '../../../api/operator-tasks.ts';
import { readTime } from '../../../parts/contract-values.ts';
import { At } from '../../../parts/time.tsx';
import { evidenceWords } from '../evidence-words.ts';
import { recordWords } from '../record-words.ts';
import { AttemptTable, orderLine } from './task-facts.tsx';
import { HistoryList } from './history-list.tsx';
import { FoldedText, OrderMedia } from './task-order.tsx';
import type { JobFacts } from './job-facts.ts';
import { DataTable, Facts } from '../../../parts/data-table.tsx';
import type { Column } from '../../../parts/data-table.tsx';
import { parseNanos, moneyText } from '../../../parts/number-text.tsx';
import { attentionWords } from '../attention-words.ts';
import type { AttentionRow } from './attention-rows.ts';

const words = evidenceWords.evidence;
const NONE = '–';

export interface TaskEvidenceProps {
  readonly view: OperatorTaskView;
  readonly row: OrderedAndReportedProps['row'];
}

/**
 * Shows the facts that an operator needs before a decision over a task: the order beside its prompt, and what became of
 * it.
 */
export function TaskEvidence({ view, row }: TaskEvidenceProps): VNode {
  const { task, record, text } = view;
  return (
    <>
      <div class="beside">
        <section>
          <h3>{words.ordered}</h3>
          <p>{orderLine(task)}</p>
          <OrderedAndReported view={view} row={row} />
          <OrderMedia task={task} />
        </section>
        <section>
          <h3>{words.prompt}</h3>
          {task.fullPrompt === '' ? (
            <p class="quiet">{recordWords.task.noPrompt}</p>
          ) : (
            <FoldedText text={task.fullPrompt} name={words.prompt} />
          )}
          {text === undefined ? null : (
            <>
              <h3>{recordWords.task.answer}</h3>
              <FoldedText text={text} name={recordWords.task.answer} />
            </>
          )}
        </section>
      </div>
      <h3>{words.known}</h3>
      <Facts
        facts={[
          [words.upstreamId, <span class="id">{record.upstreamId || NONE}</span>],
          [words.upstreamStatus, record.upstreamStatus || NONE],
          [words.admission, words.admissions[record.admission] ?? record.admission],
          [words.pollErrors, record.pollErrors],
          [words.nextPoll, record.nextPollAt === undefined ? words.noPoll : <At at={readTime(record.nextPollAt)} />],
        ]}
      />
      <AttemptTable attempts={record.attempts} />
      <HistoryList events={record.events} />
    </>
  );
}

/** The same for a job. */
export function JobEvidence({ job }: { job: JobFacts }): VNode {
  return (
    <>
      <Facts
        facts={[
          [words.endpoint, job.endpoint],
          [words.model, job.model || NONE],
          [words.created, <At at={readTime(job.createdAt) ?? 0} />],
          [words.starts, job.starts],
          ...(job.failure === undefined ? [] : [[words.failure, renderFailure(job.failure)] as const]),
        ]}
      />
      <HistoryList events={job.events} isOpen />
    </>
  );
}

function renderFailure({ message, code }: NonNullable<JobFacts['failure']>): VNode {
  return (
    <>
      {message} <code>{code}</code>
    </>
  );
}

/** One quantity of the work, with its unit. */
interface ComparedRow {
  readonly name: string;
  readonly ordered: string;
  readonly reported: string;
}

const COLUMNS: readonly Column<ComparedRow>[] = [
  { name: attentionWords.compared.quantity, cell: ({ name }) => name, isHead: true },
  { name: attentionWords.compared.ordered, cell: ({ ordered }) => ordered, isNumber: true },
  { name: attentionWords.compared.reported, cell: ({ reported }) => reported, isNumber: true },
];

interface OrderedAndReportedProps {
  readonly view: Pick<OperatorTaskView, 'task' | 'usage' | 'money'>;
  readonly row: Pick<AttentionRow, 'decisions' | 'held'>;
}

/** Shows the order and its hold beside the report of the upstream and its cost. */
function OrderedAndReported({ view, row }: OrderedAndReportedProps): VNode {
  return (
    <div class="compared">
      <DataTable
        caption={attentionWords.compared.caption}
        columns={COLUMNS}
        rows={compareQuantities(view, row)}
        keyOf={({ name }) => name}
      />
      {view.usage === undefined ? <p class="small quiet">{attentionWords.compared.nothingReported}</p> : null}
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
  const inSeconds = { write: attentionWords.compared.seconds };
  const counted = { write: attentionWords.compared.count };
  return [
    {
      name: attentionWords.compared.totalSeconds,
      ordered: output === undefined ? input : output + (input ?? 0),
      reported: usage.totalSeconds,
      ...inSeconds,
    },
    { name: attentionWords.compared.inputSeconds, ordered: input, reported: usage.inputSeconds, ...inSeconds },
    { name: attentionWords.compared.outputSeconds, ordered: output, reported: usage.outputSeconds, ...inSeconds },
    {
      name: attentionWords.compared.images,
      ordered: images === 0 ? undefined : images,
      reported: usage.inputImageCount,
      ...counted,
    },
    { name: attentionWords.compared.sound, reported: usage.inputAudioSeconds, ...inSeconds },
    { name: attentionWords.compared.inputTokens, ordered: input_tokens, reported: usage.promptTokens, ...counted },
    {
      name: attentionWords.compared.outputTokens,
      ordered: output_tokens,
      reported: usage.completionTokens,
      ...counted,
    },
    { name: attentionWords.compared.totalTokens, reported: usage.totalTokens, ...counted },
  ];
}

function priceRow({ decisions, held }: OrderedAndReportedProps['row'], isReported: boolean): readonly ComparedRow[] {
  if (held === undefined) return [];
  const charge = decisions.find(({ resolution }) => resolution === 'completed')?.charge;
  const reported =
    isReported && charge !== undefined
      ? `${moneyText(charge.amount, charge.currency)}${timesText(charge.amount, held.amount)}`
      : NONE;
  return [
    {
      name: attentionWords.compared.price,
      ordered: attentionWords.compared.held(moneyText(held.amount, held.currency)),
      reported,
    },
  ];
}

/** Says how many times the hold the price of the usage is; empty if it is within the hold. */
function timesText(charge: string, held: string): string {
  const [charged = 0n, reserved = 0n] = [parseNanos(charge), parseNanos(held)];
  if (reserved === 0n || charged <= reserved) return '';
  const tenths = (charged * 10n) / reserved;
  const times = tenths < 100n ? (Number(tenths) / 10).toFixed(1) : (tenths / 10n).toLocaleString('en');
  return attentionWords.compared.times(times);
}
