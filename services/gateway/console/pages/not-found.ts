import { html } from '../html.ts';
import type { VNode } from '../html.ts';
import { PageTitle } from '../parts/page-title.ts';
import { words } from '../words.ts';

export function page(): VNode {
  const { title, text, home } = words.notFound;
  return html`<${PageTitle} title=${title} lead=${text} />
    <p><a class="button" href="/console">${home}</a></p>`;
}
