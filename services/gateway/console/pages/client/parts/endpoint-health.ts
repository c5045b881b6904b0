import type { Endpoint } from '../../../api/webhooks.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { Ago, durationText, useNow } from '../../../parts/time.ts';
import { webhooksWords } from '../words/webhooks.ts';

const words = webhooksWords.health;

/** Whether deliveries arrive, by a word and a shape; else since when and why not. */
export function EndpointHealth({ endpoint }: { endpoint: Endpoint }): VNode {
  const { disabledAt, disabledReason = '', failingSince, lastSuccessAt } = endpoint;
  if (disabledAt !== undefined) {
    const reasons: Readonly<Record<string, string>> = words.reasons;
    return html`<span class="lines">
      <span class="state failed">✕ ${words.disabled} <${Ago} at=${disabledAt} /></span>
      <span class="small quiet">${reasons[disabledReason] ?? disabledReason}</span>
    </span>`;
  }
  if (failingSince !== undefined)
    return html`<span class="state in_progress">◐ <${FailingFor} since=${failingSince} /></span>`;
  return lastSuccessAt === undefined
    ? html`<span class="state">○ ${words.unused}</span>`
    : html`<span class="state completed">● ${words.well}</span>`;
}

function FailingFor({ since }: { since: number }): VNode {
  return html`<span>${words.failing(durationText(useNow() - since))}</span>`;
}
