import type { NoteList } from '../../api/operator-hand-over.ts';
import type { OperatorTaskView, UpstreamCost } from '../../api/operator-tasks.ts';
import type { Delivery } from '../../api/webhooks.ts';
import type { PageProps } from '../../frame.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { PageTitle } from '../../parts/page-title.ts';
import { CodeBlock } from '../../parts/copy-button.ts';
import { DataTable } from '../../parts/data-table.ts';
import type { Column } from '../../parts/data-table.ts';
import { Loaded } from '../../parts/loaded.ts';
import { formatMoney } from '../../parts/number-text.ts';
import { Ago, useNow } from '../../parts/time.ts';
import { Timeline } from '../../parts/timeline-chart.ts';
import { useView } from '../../state/use-view.ts';
import { DeliveryState, lastAnswer } from '../../parts/delivery-state.ts';
import { MoneyLine } from '../client/parts/money-line.ts';
import { noteWords } from './operator-words.ts';
import { recordWords } from './record-words.ts';
import { ActList } from './parts/act-list.ts';
import { AttemptTable } from './parts/attempt-table.ts';
import { AttentionNote, HistoryList } from './parts/history-list.ts';
import { TaskFacts, TaskStatus } from './parts/task-facts.ts';
import { TaskOrder } from './parts/task-order.ts';

const words = recordWords.task;

/** The columns of the webhook deliveries. */
const COLUMNS: readonly Column<Delivery>[] = [
  { name: words.state, cell: ({ state }) => html`<${DeliveryState} state=${state} />` },
  { name: words.event, isHead: true, cell: ({ eventType }) => eventType },
  { name: words.receiver, cell: ({ url }) => html`<span class="error-text">${url}</span>` },
  { name: words.lastAnswer, cell: lastAnswer },
  { name: words.tries, isNumber: true, cell: ({ attemptCount }) => attemptCount },
  { name: words.created, cell: ({ createdAt }) => html`<${Ago} at=${createdAt} />` },
];

export function page({ params }: PageProps): VNode {
  const id = params['taskId'] ?? '';
  const view = useView<OperatorTaskView>(`/tasks/${encodeURIComponent(id)}`, [`task:${id}`]);
  return html`<${PageTitle} title=${html`${words.title} <span class="id">${id}</span>`} />
    <${Loaded} view=${view}>${(task: OperatorTaskView) => html`<${TaskView} view=${task} />`}<//>`;
}

export function TaskView({ view }: { view: OperatorTaskView }): VNode {
  const { task, video, text, money, timeline, attempts, history, acts, deliveries, raw, isInAttention } = view;
  const isUnavailable = (part: OperatorTaskView['unavailable'][number]): boolean => view.unavailable.includes(part);
  const now = useNow(task.endedAt === undefined);
  return html`
    <${TaskStatus} task=${task} />
    ${isInAttention ? html`<${AttentionNote} id=${task.id} />` : null}
    <${TaskFacts} task=${task} video=${video} />
    ${view.notes === undefined ? null : html`<${NoteTexts} list=${view.notes} subject=${task.id} />`}
    <h2>${words.attempts}</h2>
    <${AttemptTable} attempts=${attempts} />
    <h2>${words.timeline}</h2>
    ${
      isUnavailable('timeline')
        ? html`<p class="note">${words.noTimeline}</p>`
        : html`<${Timeline} entries=${timeline} now=${now} />`
    }
    <${HistoryList} history=${history} />
    <h2>${words.money}</h2>
    <${MoneyLine} money=${money} resolution=${task.resolution} isUnavailable=${isUnavailable('money')} />
    <${UpstreamCostLine} cost=${view.upstreamCost} />
    <h2>${words.order}</h2>
    <${TaskOrder} task=${task} text=${text} />
    <h2>${words.webhooks}</h2>
    ${
      isUnavailable('deliveries')
        ? html`<p class="note">${words.noWebhooks}</p>`
        : html`<${DeliveryFacts} deliveries=${deliveries} />`
    }
    <${ActList} acts=${acts} title=${words.acts} />
    <h2>${words.raw}</h2>
    <details>
      <summary>${words.rawShow}</summary>
      <${CodeBlock} text=${JSON.stringify(raw, null, 2)} what=${words.raw} />
    </details>
  `;
}

/** The notes for the next person. They are left and ended on a page of their own. */
function NoteTexts({ list: { notes, canWrite }, subject }: { list: NoteList; subject: string }): VNode | null {
  if (notes.length === 0 && !canWrite) return null;
  return html`
    ${notes.map(
      ({ id, author, at, text: note }) =>
        html`<p class="note note-text" key=${id}>
          ${note} <span class="small quiet">${noteWords.notes.of(author)}, <${Ago} at=${at} /></span>
        </p>`,
    )}
    <p class="note-link">
      <a href=${`/console/notes/${encodeURIComponent(subject)}`}>${noteWords.notes.open(notes.length)}</a>
    </p>
  `;
}

/** Says what the work cost at its upstream, and who says so. */
function UpstreamCostLine({ cost }: { cost: UpstreamCost | undefined }): VNode | null {
  return cost === undefined
    ? null
    : html`<p>${words.upstreamCost}: <strong>${formatMoney(cost)}</strong>, ${words.costSources[cost.source]}</p>`;
}

/** Shows the deliveries about a task to the client's receivers. Operators have no page of a delivery. */
function DeliveryFacts({ deliveries }: { deliveries: readonly Delivery[] }): VNode {
  return html`<${DataTable}
    caption=${words.webhooks}
    columns=${COLUMNS}
    rows=${deliveries}
    keyOf=${({ id }: Delivery) => id}
    empty=${words.noDeliveries}
  />`;
}
