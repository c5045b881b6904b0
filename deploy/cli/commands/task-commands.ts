import { systemClock } from '@reelgate/platform/clock';
import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import { isProblem } from '@reelgate/platform/problem';
import type { GetHoldResponse } from '@reelgate/proto/billing/v1/billing_service';
import type { TaskRecord } from '@reelgate/proto/tasks/v1/operator_service';
import { WrongCall, assertNoWords, defineCommand } from '../command.ts';
import type { Services } from '../connect-services.ts';
import { formatNanos } from '../format/quantities.ts';
import { LIST_OPTIONS, listQuery } from '../format/list-options.ts';
import { toListOutcome } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { formatHistory } from '../format/format-history.ts';
import { KINDS, readPrompt, stateName, toTaskJson } from '../format/task-record.ts';
import { isoTime, relativeTime } from '../format/times.ts';

interface Row {
  readonly record: TaskRecord;
  readonly money: GetHoldResponse | undefined;
}

/** A list of a thousand tasks must leave billing to others. */
const READS_AT_ONCE = 16;
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
    return toListOutcome(rows, ({ record, money }) => toTaskJson(record, money), COLUMNS, { terminal, options });
  },
});

export const taskShow = defineCommand({
  summary: 'show the life of tasks: each step with its time, the gaps, and the reason why an open task waits',
  words: 'ID…',
  options: {},
  example: 'task show task_06f2k3h8v0s7m1q9c4x5b2n6d0',
  run: async ({ services, words }) => {
    if (words.length === 0) throw new WrongCall('name a task');
    const shown = await Promise.all(
      words.map(async (taskId) => {
        const { record } = await services.tasks.showTask({ taskId });
        if (record === undefined) return { answer: {}, text: '' };
        const money = await readMoney(services, record);
        return { answer: toTaskJson(record, money), text: formatHistory(record, money, systemClock.now()) };
      }),
    );
    const answers = shown.map(({ answer }) => answer);
    return {
      answer: answers.length === 1 ? answers[0] : answers,
      text: shown.map(({ text }) => text).join('\n\n'),
    };
  },
});

/** The charge, or the hold as long as there is no charge. */
function formatMoney(money: GetHoldResponse | undefined): string {
  const { hold, settlement } = money ?? {};
  if (settlement !== undefined) return formatNanos(settlement.amountNanos);
  return hold === undefined ? '' : `(${formatNanos(hold.amountNanos)})`;
}

/** The hold and the settlement of a task; undefined if the task was refused before its hold. */
async function readMoney({ billing }: Services, { task }: TaskRecord): Promise<GetHoldResponse | undefined> {
  try {
    return await billing.getHold({ taskId: task?.id ?? '' });
  } catch (error) {
    if (!isProblem(error) || error.kind !== 'not_found') throw error;
    return undefined;
  }
}
