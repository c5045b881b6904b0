import type { Money } from '../../../api/money.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { moneyText } from '../../../parts/money-text.ts';

/** An amount; what is below zero is red beside its sign. */
export function AmountText({ money: { amount, currency } }: { money: Money }): VNode {
  return html`<span class=${amount.startsWith('-') ? 'bad' : undefined}>${moneyText(amount, currency)}</span>`;
}
