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
import { DeliveryState } from '../../parts/delivery-state.ts';
import { lastAnswer } from '../client/parts/delivery-table.ts';
import { MoneyLine } from '../client/parts/money-line.ts';
import { recordWords } from './record-words.ts';
import { ActList } from './parts/act-list.ts';
import { AttemptTable } from './parts/attempt-table.ts';
import { AttentionNote } from './parts/attention-note.ts';
import { HistoryList } from './parts/history-list.ts';
import { loadLater } from '../../parts/load-later.ts';
import type { NoteSectionProps } from './parts/note-section.ts';
import { TaskFacts, TaskStatus } from './parts/task-facts.ts';
import { TaskOrder } from './parts/task-order.ts';

const words = recordWords.task;

/** Notes stand below what the page is about, and a link at its top leads to them. */
const Notes = loadLater<NoteSectionProps>(() =>
  import('./parts/note-section.ts').then(({ NoteSection }) => NoteSection),
);

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
    <${Loaded} view=${view}
      >${(task: OperatorTaskView) => html`<${TaskView} view=${task} onChanged=${view.refresh} />`}<//
    >`;
}

export function TaskView({ view, onChanged }: { view: OperatorTaskView; onChanged: () => void }): VNode {
  const { task, video, text, money, timeline, attempts, history, acts, deliveries, raw, isInAttention } = view;
  const isUnavailable = (part: OperatorTaskView['unavailable'][number]): boolean => view.unavailable.includes(part);
  const now = useNow(task.endedAt === undefined);
  return html`
    <${TaskStatus} task=${task} />
    ${isInAttention ? html`<${AttentionNote} id=${task.id} />` : null}
    <${TaskFacts} task=${task} video=${video} />
    ${
      view.notes === undefined || view.notes.notes.length === 0
        ? null
        : html`<p class="note"><a href="#notes">${words.notes(view.notes.notes.length)}</a></p>`
    }
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
    ${view.notes === undefined ? null : html`<${Notes} subject=${task.id} list=${view.notes} onChanged=${onChanged} />`}
    <${ActList} acts=${acts} title=${words.acts} />
    <h2>${words.raw}</h2>
    <details>
      <summary>${words.rawShow}</summary>
      <${CodeBlock} text=${JSON.stringify(raw, null, 2)} what=${words.raw} />
    </details>
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
