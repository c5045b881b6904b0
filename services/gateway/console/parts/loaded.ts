import type { View } from '../state/use-view.ts';
import { html } from '../html.ts';
import type { VNode } from '../html.ts';
import { words } from '../words.ts';
import { Refusal } from './refusal.ts';

/** Draws a view once it is read. A failed refresh is told above what was read before. */
export function Loaded<T>({ view, children }: { view: View<T>; children: (data: T) => VNode }): VNode {
  const { data, error, isLoading, refresh } = view;
  return html`
    ${error === undefined ? null : html`<${Refusal} error=${error} retry=${refresh} />`}
    ${data === undefined ? (isLoading ? html`<p class="quiet">${words.loading}</p>` : null) : children(data)}
  `;
}
