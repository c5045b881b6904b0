import type { TaskView } from '../../../api/task.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { StateBadge } from '../../../parts/state-badge.ts';
import { durationText } from '../../../parts/time.ts';
import { taskWords } from '../../../words.ts';

const words = taskWords.status;

/** The state in words, how long it lasts, and how far the work has come. */
export function TaskStatus({ task, now }: { task: TaskView['task']; now: number }): VNode {
  const { state, progress, createdAt, endedAt, failure } = task;
  const isRunning = endedAt === undefined && (state === 'queued' || state === 'in_progress');
  return html`<div class="task-status">
    <p class="status-line">
      <${StateBadge} state=${state} text=${words[state](durationText((endedAt ?? now) - createdAt))} />
    </p>
    ${
      isRunning
        ? html`<p class="progress-line">
            <progress max="100" value=${progress} aria-label=${words.progress(progress)}></progress>
            <span aria-hidden="true">${words.progress(progress)}</span>
          </p>`
        : null
    }
    ${failure === undefined ? null : html`<p class="fault">${failure.message} <code>${failure.code}</code></p>`}
  </div>`;
}
