import { html } from '../html.ts';
import type { VNode } from '../html.ts';
import { deliveryWords, words } from '../words.ts';
import type { Delivery } from '../api/webhooks.ts';

export type State = 'queued' | 'in_progress' | 'completed' | 'failed';

/** A shape for each state, so that no state is known by its colour alone. */
const SHAPES: Readonly<Record<State, string>> = { queued: '○', in_progress: '◐', completed: '●', failed: '✕' };

/** The state by its word, or by a text that says more than the word. */
export function StateBadge({ state, text = words.states[state] }: { state: State; text?: string }): VNode {
  return html`<span class=${`state ${state}`}
    ><span aria-hidden="true">${SHAPES[state]}</span> <span>${text}</span></span
  >`;
}

const DELIVERY_SHAPES = { pending: '○', delivered: '●', failed: '✕' };
const DELIVERY_TONES = { pending: 'in_progress', delivered: 'completed', failed: 'failed' };

/** The state of a delivery by a word and a shape. */
export function DeliveryState({ state }: { state: Delivery['state'] }): VNode {
  return html`<span class=${`state ${DELIVERY_TONES[state]}`}
    ><span aria-hidden="true">${DELIVERY_SHAPES[state]}</span> ${deliveryWords.states[state]}</span
  >`;
}
