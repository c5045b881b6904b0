import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';

/** Shows the subject of an event. A task has a page. */
export function SubjectLink({ id }: { id: string }): VNode {
  return id.startsWith('task_')
    ? html`<a class="id" href=${`/console/tasks/${encodeURIComponent(id)}`}>${id}</a>`
    : html`<span class="id">${id}</span>`;
}
