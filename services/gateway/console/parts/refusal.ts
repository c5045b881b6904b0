import type { ApiError } from '../state/api.ts';
import { html } from '../html.ts';
import type { VNode } from '../html.ts';
import { words } from '../words.ts';

/** Shows why something could not be read, and a way to try again. */
export function Refusal({ error, retry }: { error: ApiError; retry?: () => void }): VNode {
  return html`<div class="refusal" role="alert">
    <strong>${words.failed.title}</strong>
    <p>${error.message}</p>
    ${error.requestId === undefined ? null : html`<p class="quiet">${words.failed.request} <code>${error.requestId}</code></p>`}
    ${retry === undefined ? null : html`<button type="button" onClick=${retry}>${words.tryAgain}</button>`}
  </div>`;
}
