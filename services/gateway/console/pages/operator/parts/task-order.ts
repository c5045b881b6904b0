import type { OperatorTaskView } from '../../../api/operator-tasks.ts';
import type { Reference } from '../../../api/task.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { ExternalLink } from '../../../parts/external-link.ts';
import { operatorWords } from '../operator-words.ts';
import { orderLine } from './task-facts.ts';
import { leavesOf } from './value-tree.ts';

const words = operatorWords.task;

/** What the client ordered: the prompt, the media and the settings. */
export function TaskOrder({ task, text }: { task: OperatorTaskView['task']; text: string | undefined }): VNode {
  const { fullPrompt, references, settings } = task;
  const set = Object.keys(settings).length === 0 ? [] : leavesOf(settings);
  return html`
    <p>${orderLine(task)}</p>
    <blockquote>${fullPrompt === '' ? words.noPrompt : fullPrompt}</blockquote>
    ${
      text === undefined
        ? null
        : html`<h3>${words.answer}</h3>
            <blockquote>${text}</blockquote>`
    }
    <dl class="facts">
      ${references.map(
        (reference, at) =>
          html`<dt key=${at}>${reference.role.replaceAll('_', ' ')}</dt>
            <dd><${Source} reference=${reference} /></dd>`,
      )}
      ${set.map(
        ({ path, text: value }) =>
          html`<dt key=${path}>${path}</dt>
            <dd>${value}</dd>`,
      )}
    </dl>
  `;
}

function Source({ reference: { kind, url } }: { reference: Reference }): VNode {
  return url === undefined ? html`${words.sentBytes(kind)}` : html`<${ExternalLink} url=${url} />`;
}
