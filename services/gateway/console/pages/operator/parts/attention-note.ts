import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { attentionWords } from '../attention-words.ts';

/** Leads from a task or job to the decision that it waits for. */
export function AttentionNote({ id }: { id: string }): VNode {
  return html`<p class="note">
    ${attentionWords.attention.waitsHere}${' '}
    <a href=${`/console/attention?open=${encodeURIComponent(id)}`}>${attentionWords.attention.decide}</a>
  </p>`;
}
