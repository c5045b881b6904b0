import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';

export function page(): VNode {
  return html`<h1>now</h1>`;
}
