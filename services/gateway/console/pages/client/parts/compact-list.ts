import type { TaskRow } from '../../../api/tasks.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { StateShape } from '../../../parts/state-badge.ts';
import { Ago } from '../../../parts/time.ts';
import { tasksWords as words } from '../client-words.ts';
import { chargeText, taskTitle } from './task-table.ts';

/** Tasks in one line each, in two columns where there is room, so that fifty are seen at once. */
export function CompactList({ tasks }: { tasks: readonly TaskRow[] }): VNode {
  return html`<ol class="compact-list" aria-label=${words.caption}>
    ${tasks.map(
      (task) =>
        html`<li key=${task.id}>
          <${StateShape} state=${task.state} />
          <a href=${`/console/tasks/${encodeURIComponent(task.id)}`} title=${taskTitle(task)}>${taskTitle(task)}</a>
          <span class="quiet">${task.seconds > 0 ? words.seconds(task.seconds) : ''}</span>
          <span class="number">${chargeText(task.charge)}</span>
          <span class="quiet number"><${Ago} at=${task.createdAt} /></span>
        </li>`,
    )}
  </ol>`;
}
