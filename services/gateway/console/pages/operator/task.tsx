import type { VNode } from 'preact';
import type { OperatorTaskView, UpstreamCost } from '../../api/operator-tasks.ts';
import type { Delivery } from '../../api/webhooks.ts';
import type { PageProps } from '../../frame.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { CodeBlock } from '../../parts/copy-button.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { formatMoney } from '../../parts/number-text.tsx';
import { Ago, useNow } from '../../parts/time.tsx';
import { Timeline } from '../../parts/timeline-chart.tsx';
import { readTime } from '../../parts/contract-values.ts';
import { toCall, useCalls } from '../../state/calls.ts';
import { useView } from '../../state/use-view.ts';
import { DeliveryState, lastAnswer } from '../../parts/delivery-state.tsx';
import { MoneyLine } from '../client/parts/money-line.tsx';
import { noteWords } from './operator-words.ts';
import { recordWords } from './record-words.ts';
import { ActList, listActs, toActCalls } from './parts/act-list.tsx';
import type { Act } from './parts/act-list.tsx';
import type { OperatorNote } from './parts/note-section.tsx';
import { useOperator } from './parts/use-operator.ts';
import { AttemptTable, TaskFacts, TaskStatus } from './parts/task-facts.tsx';
import { AttentionNote, HistoryList } from './parts/history-list.tsx';
import type { QueuedTask } from './parts/task-facts.tsx';
import { TaskOrder } from './parts/task-order.tsx';

const ACTS_SHOWN = 20;
const words = recordWords.task;

/** The columns of the webhook deliveries. */
const COLUMNS: readonly Column<Delivery>[] = [
  { name: words.state, cell: ({ state }) => <DeliveryState state={state} /> },
  { name: words.event, isHead: true, cell: ({ eventType }) => eventType },
  { name: words.receiver, cell: ({ url }) => <span class="error-text">{url}</span> },
  { name: words.lastAnswer, cell: lastAnswer },
  { name: words.tries, isNumber: true, cell: ({ attemptCount }) => attemptCount },
  { name: words.created, cell: ({ createdAt }) => <Ago at={readTime(createdAt)} /> },
];

export function page({ params }: PageProps): VNode {
  const id = params['taskId'] ?? '';
  const { covers } = useOperator();
  const view = useView<OperatorTaskView>(`/tasks/${encodeURIComponent(id)}`, [`task:${id}`]);
  const records = useCalls({}, [`task:${id}`], {
    notes: toCall('tasks.OperatorService/ListNotes', { subject: id }),
    // refused for a task that does not wait
    queued: toCall('tasks.QueueService/ShowQueuedTask', { taskId: id }),
    ...toActCalls({ subject: id, limit: ACTS_SHOWN }),
  });
  const { notes, queued, ...acts } = records.data ?? {};
  return (
    <>
      <PageTitle title={words.title} id={id} />
      <Loaded view={view} alongside={[records]}>
        {(task) => (
          <TaskView
            view={task}
            queued={queued}
            notes={notes?.notes}
            canWrite={covers('operator')}
            acts={listActs(acts, ACTS_SHOWN)}
          />
        )}
      </Loaded>
    </>
  );
}

export interface TaskViewProps {
  readonly view: OperatorTaskView;
  /** Undefined: they cannot be read now. */
  readonly notes?: readonly OperatorNote[] | undefined;
  /** Its place among those that wait; undefined if it does not wait. */
  readonly queued?: QueuedTask | undefined;
  /** True if the visitor may write notes. */
  readonly canWrite?: boolean;
  readonly acts: readonly Act[];
}

export function TaskView({ view, notes, queued, canWrite = false, acts }: TaskViewProps): VNode {
  const { task, record, video, text, money, timeline, deliveries, raw, isInAttention } = view;
  const isUnavailable = (part: OperatorTaskView['unavailable'][number]): boolean => view.unavailable.includes(part);
  const now = useNow(task.endedAt === undefined);
  return (
    <>
      <TaskStatus task={task} />
      {isInAttention ? <AttentionNote id={task.id} /> : null}
      <TaskFacts task={task} record={record} video={video} queued={isWaiting(view) ? queued : undefined} />
      {notes === undefined ? null : <NoteTexts notes={notes} canWrite={canWrite} subject={task.id} />}
      <h2>{words.attempts}</h2>
      <AttemptTable attempts={record.attempts} />
      <h2>{words.timeline}</h2>
      {isUnavailable('timeline') ? <p class="note">{words.noTimeline}</p> : <Timeline entries={timeline} now={now} />}
      <HistoryList events={record.events} />
      <h2>{words.money}</h2>
      <MoneyLine money={money} resolution={task.resolution} isUnavailable={isUnavailable('money')} />
      <UpstreamCostLine cost={view.upstreamCost} />
      <h2>{words.order}</h2>
      <TaskOrder task={task} text={text} />
      <h2>{words.webhooks}</h2>
      {isUnavailable('deliveries') ? <p class="note">{words.noWebhooks}</p> : <DeliveryFacts deliveries={deliveries} />}
      <ActList acts={acts} title={words.acts} />
      <h2>{words.raw}</h2>
      <details>
        <summary>{words.rawShow}</summary>
        <CodeBlock text={JSON.stringify(raw, null, 2)} what={words.raw} />
      </details>
    </>
  );
}

/** The notes for the next person. They are left and ended on a page of their own. */
interface NoteTextsProps {
  readonly notes: readonly OperatorNote[];
  readonly canWrite: boolean;
  readonly subject: string;
}

function NoteTexts({ notes, canWrite, subject }: NoteTextsProps): VNode | null {
  if (notes.length === 0 && !canWrite) return null;
  return (
    <>
      {notes.map(({ id, author, at, text: note }) => (
        <p class="note note-text" key={id}>
          {note}{' '}
          <span class="small quiet">
            {noteWords.notes.of(author)}, <Ago at={readTime(at) ?? 0} />
          </span>
        </p>
      ))}
      <p class="note-link">
        <a href={`/console/notes/${encodeURIComponent(subject)}`}>{noteWords.notes.open(notes.length)}</a>
      </p>
    </>
  );
}

/** Says what the work cost at its upstream, and who says so. */
function UpstreamCostLine({ cost }: { cost: UpstreamCost | undefined }): VNode | null {
  return cost === undefined ? null : (
    <p>
      {words.upstreamCost}: <strong>{formatMoney(cost)}</strong>, {words.costSources[cost.source]}
    </p>
  );
}

/** Shows the deliveries about a task to the client's receivers. Operators have no page of a delivery. */
function DeliveryFacts({ deliveries }: { deliveries: readonly Delivery[] }): VNode {
  return (
    <DataTable
      caption={words.webhooks}
      columns={COLUMNS}
      rows={deliveries}
      keyOf={({ id }) => id}
      empty={words.noDeliveries}
    />
  );
}

/** Reports whether a task waits for a channel. */
function isWaiting({ record, task }: OperatorTaskView): boolean {
  return record.admission === 'waiting' && task.failure === undefined;
}
