import type { VNode } from 'preact';
import type { Delivery } from '../api/webhooks.ts';
import { readWord } from './contract-values.ts';
import { deliveryWords as words } from './delivery-words.ts';

type DeliveryWord = 'pending' | 'delivered' | 'failed';

const SHAPES = { pending: '○', delivered: '●', failed: '✕' };
const TONES = { pending: 'in_progress', delivered: 'completed', failed: 'failed' };

/** The state of a delivery by a word and a shape. */
export function DeliveryState({ state }: { state: Delivery['state'] }): VNode {
  const word = readDeliveryState(state);
  return (
    <span class={`state ${TONES[word]}`}>
      <span aria-hidden="true">{SHAPES[word]}</span> {words.states[word]}
    </span>
  );
}

/** The word for the state of a delivery. */
export function readDeliveryState(state: Delivery['state']): DeliveryWord {
  return readWord('WEBHOOK_DELIVERY_STATE_', state);
}

/** Describes the last answer of the receiver. A status shows by itself that it is no success. */
export function lastAnswer({ lastStatusCode, lastError, attemptCount }: Delivery): string {
  const told = lastStatusCode === 0 ? noStatus(attemptCount) : String(lastStatusCode);
  return lastError === '' || lastError === 'status' ? told : words.because(told, errorText(lastError));
}

function noStatus(attemptCount: number): string {
  return attemptCount === 0 ? words.notYet : words.noAnswer;
}

/** Returns the text for the error of a delivery or of an attempt. */
export function errorText(error: string): string {
  return words.errors[error] ?? error;
}
