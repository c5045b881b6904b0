import type { Delivery } from '../api/webhooks.ts';
import { html } from '../html.ts';
import type { VNode } from '../html.ts';
import { deliveryWords } from './delivery-words.ts';

const SHAPES = { pending: '○', delivered: '●', failed: '✕' };
const TONES = { pending: 'in_progress', delivered: 'completed', failed: 'failed' };

/** The state of a delivery by a word and a shape. */
export function DeliveryState({ state }: { state: Delivery['state'] }): VNode {
  return html`<span class=${`state ${TONES[state]}`}
    ><span aria-hidden="true">${SHAPES[state]}</span> ${deliveryWords.states[state]}</span
  >`;
}
