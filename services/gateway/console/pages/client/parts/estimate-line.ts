import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { moneyText } from '../../../parts/money-text.ts';
import { tryWords } from '../try-words.ts';
import type { Estimate } from './estimate.ts';
import type { FreshEstimate } from './use-estimate.ts';

const words = tryWords.estimate;

/** Shows the price of the order. An old figure is dimmed until the new one arrives. */
export function EstimateLine({ estimate, isStale }: Omit<FreshEstimate, 'fault'>): VNode {
  return html`<div class="estimate" role="status">
    <span class=${isStale ? 'figure stale' : 'figure'}>
      ${estimate === undefined ? '' : words.figure(moneyText(estimate.amount, estimate.currency))}
    </span>
    <span class="quiet small">
      ${estimate === undefined ? (isStale ? words.estimating : words.none) : `${factsText(estimate)} ${words.held}`}
    </span>
  </div>`;
}

function factsText({ facts }: Estimate): string {
  const told = Object.entries(words.facts).flatMap(([name, text]) => {
    const count = facts[name] ?? 0;
    return count > 0 ? [text(count)] : [];
  });
  return told.length === 0 ? '' : `${told.join(' + ')}.`;
}
