import { html } from '../html.ts';
import type { VNode } from '../html.ts';
import { words } from '../words.ts';

export function page(): VNode {
  return html`<h1>${words.notFound.title}</h1>
    <p>${words.notFound.text}</p>
    <p><a href="/console">${words.notFound.home}</a></p>`;
}
