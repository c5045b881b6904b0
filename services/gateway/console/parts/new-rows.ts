import { html } from '../html.ts';
import type { VNode } from '../html.ts';
import { words } from '../words.ts';

/** Says that new rows wait, and lets them in. The place is there before it is needed, so nothing moves. */
export function NewRows({ count, onAccept }: { count: number; onAccept: () => void }): VNode {
  return html`<p class="new-rows" role="status">
    ${count === 0 ? null : html`<button type="button" onClick=${onAccept}>${words.live.newRows(count)}</button>`}
  </p>`;
}
