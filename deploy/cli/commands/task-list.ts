import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import type { GetHoldResponse } from '@reelgate/proto/billing/v1/billing_service';
import type { TaskRecord } from '@reelgate/proto/tasks/v1/operator_service';
import { defineCommand, assertNoWords } from '../command.ts';
import { formatNanos } from '../format/amount.ts';
import { LIST_OPTIONS, listQuery } from '../format/list-options.ts';
import { asTable } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { readMoney } from '../format/task-money.ts';
import { KINDS, readPrompt, toTaskJson, stateName } from '../format/task-record.ts';
import { isoTime, relativeTime } from '../format/times.ts';

/** A list of a thousand tasks must leave billing to others. */
const READS_AT_ONCE = 16;

interface Row {
  readonly record: TaskRecord;
  readonly money: GetHoldResponse | undefined;
}

const COLUMNS: readonly Column<Row>[] = [
  { title: 'ID', of: ({ record: { task } }) => task?.id ?? '' },
  { title: 'STATE', of: ({ record: { task } }) => stateName(task?.state) },
  { title: 'CREATED', of: ({ record: { task } }) => relativeTime(task?.createdAt) },
  { title: 'MONEY', of: ({ money }) => formatMoney(money) },
  { title: 'MODEL', of: ({ record: { task } }) => task?.order?.model ?? '', shrinks: true },
  { title: 'ACCOUNT', of: ({ record: { task } }) => task?.accountId ?? '', isWide: true },
  { title: 'TOKEN', of: ({ record: { tokenId } }) => tokenId, isWide: true },
  { title: 'KIND', of: ({ record: { task } }) => KINDS[task?.order?.kind ?? 0], isWide: true },
  { title: 'CHANNEL', of: ({ record: { attempts } }) => attempts.at(-1)?.channel ?? '', isWide: true },
  { title: 'CREATED AT', of: ({ record: { task } }) => isoTime(task?.createdAt) ?? '', isWide: true },
  { title: 'COMPLETED AT', of: ({ record: { task } }) => isoTime(task?.completedAt) ?? '', isWide: true },
  { title: 'ERROR', of: ({ record: { task } }) => task?.failure?.code ?? '', shrinks: true },
  { title: 'PROMPT', of: ({ record: { task } }) => readPrompt(task?.order), shrinks: true },
];

export const taskList = defineCommand({
  summary: 'list tasks, newest first',
  words: '',
  options: LIST_OPTIONS,
  example: 'task list --state failed --limit 20',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const { records } = await services.tasks.listTaskRecords(listQuery(options));
    const reads = newSemaphore({ permits: READS_AT_ONCE, waitingMax: records.length });
    const rows = await Promise.all(
      records.map((record) =>
        reads.run(async (): Promise<Row> => ({ record, money: await readMoney(services, record) })),
      ),
    );
    return {
      answer: rows.map(({ record, money }) => toTaskJson(record, money)),
      text: asTable(rows, COLUMNS, { terminal, isWide: options.wide }),
    };
  },
});

/** The charge, or the hold as long as there is no charge. */
function formatMoney(money: GetHoldResponse | undefined): string {
  const { hold, settlement } = money ?? {};
  if (settlement !== undefined) return formatNanos(settlement.amountNanos);
  return hold === undefined ? '' : `(${formatNanos(hold.amountNanos)})`;
}
