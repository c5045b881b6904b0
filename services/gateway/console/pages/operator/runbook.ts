import type { PageProps } from '../../frame.ts';
import { html } from '../../html.ts';
import type { ComponentChildren, VNode } from '../../html.ts';
import { EmptyState } from '../../parts/empty-state.ts';
import { PageTitle } from '../../parts/page-title.ts';
import { RUNBOOK } from './runbook-sections.ts';
import { handOverWords } from './hand-over-words.ts';

const words = handOverWords.runbook;
/** Code between backquotes, or a link. */
const MARKED = /`([^`]+)`|\[([^\]]+)\]\(([^)]+)\)/g;

/** The section of the runbook about an alert. It is a part of the console, which runs in closed networks too. */
export function page({ params }: PageProps): VNode {
  const alert = params['alert'] ?? '';
  const section = Object.hasOwn(RUNBOOK, alert) ? RUNBOOK[alert] : undefined;
  return html`<${PageTitle} title=${html`${words.title} <span class="id">${alert}</span>`} />
    ${section === undefined ? html`<${EmptyState} title=${words.unknown} />` : html`<${Section} text=${section} />`}`;
}

/** Paragraphs, and lists of lines that begin with a hyphen. */
export function Section({ text }: { text: string }): VNode {
  return html`<div class="runbook">
    ${text.split(/\n{2,}/).map((block) =>
      block.startsWith('- ')
        ? html`<ul key=${block}>
            ${block.split(/\n(?=- )/).map((item) => html`<li key=${item}>${renderMarked(item.slice(2))}</li>`)}
          </ul>`
        : html`<p key=${block}>${renderMarked(block)}</p>`,
    )}
  </div>`;
}

function renderMarked(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const found of text.matchAll(MARKED)) {
    const [whole, code, name = '', target = ''] = found;
    parts.push(
      text.slice(end, found.index),
      code === undefined ? renderLink(name, target) : html`<code>${code}</code>`,
    );
    end = found.index + whole.length;
  }
  return [...parts, text.slice(end)];
}

/** A link to another alert leads to its section; other documents are not at hand here. */
function renderLink(name: string, target: string): ComponentChildren {
  const alert = Object.keys(RUNBOOK).find((one) => target === `#${one.toLowerCase()}`);
  return alert === undefined ? name : html`<a href=${`/console/runbooks/${alert}`}>${name}</a>`;
}
