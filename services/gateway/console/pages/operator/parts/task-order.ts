import type { OperatorTaskView } from '../../../api/operator-tasks.ts';
import type { Reference } from '../../../api/task.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { ExternalLink } from '../../../parts/links.ts';
import { recordWords } from '../record-words.ts';
import { FoldedText } from './folded-text.ts';
import { orderLine } from './task-facts.ts';
import { listLeaves } from './value-tree.ts';

const words = recordWords.task;

/** Shows the client's order: the prompt, the media and the settings. */
export function TaskOrder({ task, text }: { task: OperatorTaskView['task']; text: string | undefined }): VNode {
  const { fullPrompt } = task;
  return html`
    <p>${orderLine(task)}</p>
    <${FoldedText} text=${fullPrompt === '' ? words.noPrompt : fullPrompt} name=${words.order} />
    ${
      text === undefined
        ? null
        : html`<h3>${words.answer}</h3>
            <${FoldedText} text=${text} name=${words.answer} />`
    }
    <${OrderMedia} task=${task} />
  `;
}

/** The media and the settings of an order. */
export function OrderMedia({ task: { references, settings } }: { task: OperatorTaskView['task'] }): VNode | null {
  const set = Object.keys(settings).length === 0 ? [] : listLeaves(settings);
  if (references.length === 0 && set.length === 0) return null;
  return html`<dl class="facts">
    ${references.map(
      (reference, at) =>
        html`<dt key=${at}>${(reference.role === '' ? reference.kind : reference.role).replaceAll('_', ' ')}</dt>
          <dd><${Source} reference=${reference} /></dd>`,
    )}
    ${set.map(
      ({ path, text: value }) =>
        html`<dt key=${path}>${path}</dt>
          <dd>${value}</dd>`,
    )}
  </dl>`;
}

function Source({ reference: { kind, url } }: { reference: Reference }): VNode {
  return url === undefined ? html`${words.sentBytes(kind)}` : html`<${ExternalLink} url=${url} />`;
}
