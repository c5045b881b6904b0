import { useEffect, useRef } from 'preact/hooks';
import type { JobView } from '../../../api/operator-jobs.ts';
import type { OperatorTaskView } from '../../../api/operator-tasks.ts';
import { useView } from '../../../state/use-view.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { CopyButton } from '../../../parts/copy-button.ts';
import { Loaded } from '../../../parts/loaded.ts';
import { moneyText } from '../../../parts/money.ts';
import { StateBadge } from '../../../parts/state-badge.ts';
import { Ago } from '../../../parts/time.ts';
import { operatorWords } from '../operator-words.ts';
import { DecisionForm } from './decision-form.ts';
import { JobEvidence, TaskEvidence } from './evidence.ts';
import type { QueueEntry } from './queue.ts';
import { reasonText } from './queue-list.ts';

const words = operatorWords.attention;

export interface AttentionItemProps {
  readonly entry: QueueEntry;
  readonly canDecide: boolean;
  readonly onDecided: (id: string) => void;
}

/** An entry of the queue: what is known about it, and what can be decided. */
export function AttentionItem({ entry: { row, isDecided }, canDecide, onDecided }: AttentionItemProps): VNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // the form that had the focus is gone
    if (isDecided && document.activeElement === document.body) heading.current?.focus();
  }, [isDecided]);
  const href = `/console/${row.isJob ? 'jobs' : 'tasks'}/${encodeURIComponent(row.id)}`;
  return html`
    <h2 ref=${heading} tabindex="-1">${reasonText(row.reason)}</h2>
    <p><span class="id">${row.id}</span> <${CopyButton} text=${row.id} what=${row.id} /></p>
    <p>${row.detail}</p>
    <dl class="facts">
      <dt>${words.since}</dt>
      <dd><${Ago} at=${row.since} /></dd>
      <dt>${words.state}</dt>
      <dd><${StateBadge} state=${row.state} /></dd>
      <dt>${words.account}</dt>
      <dd><a href=${`/console/accounts/${encodeURIComponent(row.accountId)}`}>${row.accountId}</a></dd>
      <dt>${words.heldNow}</dt>
      <dd>${row.held === undefined ? words.moneyUnknown : moneyText(row.held.amount, row.held.currency)}</dd>
    </dl>
    <p><a href=${href}>${row.isJob ? words.openJob : words.openTask}</a></p>
    <h3>${words.evidence}</h3>
    ${row.isJob ? html`<${JobFacts} id=${row.id} />` : html`<${TaskFacts} id=${row.id} />`}
    <h3>${words.decision}</h3>
    ${
      isDecided
        ? html`<p><span aria-hidden="true">✓</span> ${words.gone}</p>`
        : html`<${DecisionForm} row=${row} canDecide=${canDecide} onDecided=${onDecided} />`
    }
  `;
}

function TaskFacts({ id }: { id: string }): VNode {
  const view = useView<OperatorTaskView>(`/tasks/${encodeURIComponent(id)}`, [`task:${id}`]);
  return html`<${Loaded} view=${view}>${(task: OperatorTaskView) => html`<${TaskEvidence} view=${task} />`}<//>`;
}

function JobFacts({ id }: { id: string }): VNode {
  const view = useView<JobView>(`/jobs/${encodeURIComponent(id)}`);
  return html`<${Loaded} view=${view}>${(job: JobView) => html`<${JobEvidence} view=${job} />`}<//>`;
}
