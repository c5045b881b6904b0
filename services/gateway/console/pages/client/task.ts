import { useEffect, useRef } from 'preact/hooks';
import type { TaskView } from '../../api/task.ts';
import { announce } from '../../state/announce.ts';
import { useMe } from '../../state/door.ts';
import { useRefreshWhile } from '../../state/refresh-while.ts';
import { useView } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { CodeBlock } from '../../parts/code-block.ts';
import { CopyButton } from '../../parts/copy-button.ts';
import { Loaded } from '../../parts/loaded.ts';
import { Timeline } from '../../parts/timeline-chart.ts';
import { useNow } from '../../parts/time.ts';
import { taskWords, words } from '../../words.ts';
import { MoneyLine } from './parts/money-line.ts';
import { TaskActs } from './parts/task-acts.ts';
import { TaskRequest } from './parts/task-request.ts';
import { TaskResult } from './parts/task-result.ts';
import { TaskStatus } from './parts/task-status.ts';
import { TaskWebhooks } from './parts/task-webhooks.ts';

export function page({ params }: PageProps): VNode {
  const id = params['taskId'] ?? '';
  const view = useView<TaskView>(`/tasks/${encodeURIComponent(id)}`, [`task:${id}`]);
  const { webhooks } = useMe();
  return html`
    <p class="above"><a href="/console/tasks">${taskWords.back}</a></p>
    <div class="heading">
      <h1>${taskWords.title} <span class="id">${id}</span></h1>
      <${CopyButton} text=${id} what=${taskWords.id} />
    </div>
    <${Loaded} view=${view}>
      ${(task: TaskView) =>
        html`<${TaskPage} view=${task} maySeeWebhooks=${webhooks !== 'none'} onChanged=${view.refresh} />`}
    <//>
  `;
}

export interface TaskPageProps {
  readonly view: TaskView;
  readonly maySeeWebhooks: boolean;
  readonly onChanged: () => void;
}

/** Everything of a task, what matters first: its state, the video, the money, then how it came about. */
export function TaskPage({ view, maySeeWebhooks, onChanged }: TaskPageProps): VNode {
  const { task, timeline, unavailable } = view;
  const isRunning = task.state === 'queued' || task.state === 'in_progress';
  const now = useNow(isRunning);
  useRefreshWhile(isSettling(view), onChanged);
  useAnnouncedState(task.state);
  return html`<article class="task">
    <div class="task-head">
      <${TaskStatus} task=${task} now=${isRunning ? now : view.now} />
      <${TaskActs} view=${view} onChanged=${onChanged} />
    </div>
    <${TaskResult} view=${view} />
    <section>
      <h2>${taskWords.money}</h2>
      <${MoneyLine} money=${view.money} resolution=${task.resolution} isUnavailable=${unavailable.includes('money')} />
    </section>
    <section>
      <h2>${taskWords.timeline}</h2>
      ${unavailable.includes('timeline') ? html`<p class="note">${taskWords.timelineUnavailable}</p>` : null}
      <${Timeline} entries=${timeline} now=${isRunning ? now : view.now} />
    </section>
    <${TaskRequest} view=${view} />
    <${TaskWebhooks}
      deliveries=${view.deliveries}
      maySee=${maySeeWebhooks}
      isUnavailable=${unavailable.includes('deliveries')}
    />
    <details class="raw">
      <summary>${taskWords.raw.title}</summary>
      <p class="quiet small"><code>${taskWords.raw.path(task.id)}</code></p>
      <${CodeBlock} text=${JSON.stringify(view.raw, null, 2)} what=${taskWords.raw.what} />
    </details>
  </article>`;
}

/** Reports whether the task has ended, and its money or its first deliveries follow in a moment. */
function isSettling({ task, money, deliveries }: TaskView): boolean {
  if (task.endedAt === undefined) return false;
  const isCharging = money !== undefined && money.settledAt === undefined && money.basis !== 'deferred';
  return isCharging || deliveries.some(({ state, attemptCount }) => state === 'pending' && attemptCount === 0);
}

/** A change of the state is spoken, the first one that is shown is not. */
function useAnnouncedState(state: TaskView['task']['state']): void {
  const told = useRef(state);
  useEffect(() => {
    if (told.current !== state) announce(taskWords.status.announced(words.states[state]));
    told.current = state;
  }, [state]);
}
