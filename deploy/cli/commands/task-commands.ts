import { create } from '@bufbuild/protobuf';
import { systemClock } from '@reelgate/platform/clock';
import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import { isProblem } from '@reelgate/platform/problem';
import type { GetHoldResponse } from '@reelgate/proto/billing/v1/billing_service';
import { TaskRecordSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { TaskRecord } from '@reelgate/proto/tasks/v1/operator_service';
import type { Order } from '@reelgate/proto/tasks/v1/order';
import { WrongCall, assertNoWords, defineCommand } from '../command.ts';
import type { Services } from '../connect-services.ts';
import { formatNanos } from '../format/quantities.ts';
import { LIST_OPTIONS, listQuery } from '../format/list-options.ts';
import { listColumns, toListOutcome } from '../format/table.ts';
import type { Column } from '../format/table.ts';
import { formatHistory } from '../format/format-history.ts';

/** The hold and the settlement of each task; undefined for a task that was refused before its hold. */
type MoneyOfTasks = ReadonlyMap<TaskRecord, GetHoldResponse | undefined>;

/** A list of a thousand tasks must not keep others from billing. */
const READS_AT_ONCE = 16;
function toColumns(money: MoneyOfTasks): readonly Column<TaskRecord>[] {
  return listColumns(TaskRecordSchema, [
    'task.id',
    'task.state',
    'task.createdAt',
    { title: 'MONEY', of: (record) => formatMoney(money.get(record)) },
    { field: 'task.order.model', shrinks: true },
    { field: 'task.accountId', isWide: true },
    { field: 'tokenId', isWide: true },
    { field: 'task.order.kind', isWide: true },
    { title: 'CHANNEL', of: ({ attempts }) => attempts.at(-1)?.channel ?? '', isWide: true },
    { field: 'task.completedAt', isWide: true },
    { field: 'task.failure.code', title: 'ERROR', shrinks: true },
    { title: 'PROMPT', of: ({ task }) => readPrompt(task?.order), shrinks: true },
  ]);
}

export const taskList = defineCommand({
  summary: 'list tasks, newest first',
  words: '',
  options: LIST_OPTIONS,
  example: 'task list --state failed --limit 20',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const { records, continueAfter } = await services.tasks.listTaskRecords(listQuery(options));
    const reads = newSemaphore({ permits: READS_AT_ONCE, waitingMax: records.length });
    const money = new Map(
      await Promise.all(
        records.map((record) => reads.run(async () => [record, await readMoney(services, record)] as const)),
      ),
    );
    const tasks = records.map((record) => ({ record, money: money.get(record) }));
    return toListOutcome({ tasks, continueAfter }, records, toColumns(money), { terminal, options });
  },
});

export const taskShow = defineCommand({
  summary: 'show the life of tasks: each step with its time, the gaps, and the reason why an open task waits',
  words: 'ID…',
  options: {},
  example: 'task show task_06f2k3h8v0s7m1q9c4x5b2n6d0',
  run: async ({ services, words }) => {
    if (words.length === 0) throw new WrongCall('name a task');
    const tasks = await Promise.all(
      words.map(async (taskId) => {
        const { record = create(TaskRecordSchema) } = await services.tasks.showTask({ taskId });
        return { record, money: await readMoney(services, record) };
      }),
    );
    const now = systemClock.now();
    return {
      answer: { tasks },
      text: tasks.map(({ record, money }) => formatHistory(record, money, now)).join('\n\n'),
    };
  },
});

/** Formats the charge, or the hold while there is no charge. */
function formatMoney(money: GetHoldResponse | undefined): string {
  const { hold, settlement } = money ?? {};
  if (settlement !== undefined) return formatNanos(settlement.amountNanos);
  return hold === undefined ? '' : `(${formatNanos(hold.amountNanos)})`;
}

/** Reads the hold and the settlement of a task. Returns undefined if the task was refused before its hold. */
async function readMoney({ billing }: Services, { task }: TaskRecord): Promise<GetHoldResponse | undefined> {
  try {
    return await billing.getHold({ taskId: task?.id ?? '' });
  } catch (error) {
    if (!isProblem(error) || error.kind !== 'not_found') throw error;
    return undefined;
  }
}

function readPrompt(order: Order | undefined): string {
  return (order?.content ?? []).flatMap(({ item }) => (item.case === 'text' ? [item.value] : [])).join('\n');
}
