import type { Attempt } from '../../../api/webhooks.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { At, durationText } from '../../../parts/time.ts';
import { webhooksWords } from '../webhooks-words.ts';
import { errorText } from './delivery-table.ts';

const words = webhooksWords.delivery;
const SECOND_MS = 1000;

/** One attempt: when, how it went, and both sides of it. The answer is text, whatever it is. */
export function AttemptCard({ attempt }: { attempt: Attempt }): VNode {
  const { number, at, durationMs, status, error, requestHeaders, answer } = attempt;
  const outcome = status === undefined ? words.noAnswer : words.answered(status);
  const headers = Object.entries(requestHeaders).map(([name, value]) => `${name}: ${value}`);
  return html`<div class="card">
    <h3>${words.attempt(number)}</h3>
    <p>
      <span class=${`state ${error === undefined ? 'completed' : 'failed'}`}>
        <span aria-hidden="true">${error === undefined ? '●' : '✕'}</span> ${outcome}
      </span>
      ${' '}${error === undefined || error === 'status' ? '' : `(${errorText(error)}) `}${words.took(tookText(durationMs))}
      <span class="quiet"> · <${At} at=${at} /></span>
    </p>
    <details>
      <summary>${words.headers}</summary>
      ${
        headers.length === 0
          ? html`<p class="quiet">${words.noHeaders}</p>`
          : html`<pre tabindex="0" aria-label=${words.headers}>${headers.join('\n')}</pre>
              <p class="quiet small">${words.withoutSignature}</p>`
      }
    </details>
    <details open=${error !== undefined && answer !== ''}>
      <summary>${words.answer}</summary>
      ${
        answer === ''
          ? html`<p class="quiet">${words.emptyAnswer}</p>`
          : html`<pre tabindex="0" aria-label=${words.answer}>${answer}</pre>
              <p class="quiet small">${words.answerStart}</p>`
      }
    </details>
  </div>`;
}

/** Most answers come within a second. */
function tookText(ms: number): string {
  return ms < SECOND_MS ? words.milliseconds(ms) : durationText(ms);
}
