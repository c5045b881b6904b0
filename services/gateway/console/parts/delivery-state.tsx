import type { VNode } from 'preact';
import type { Delivery } from '../api/webhooks.ts';
import { deliveryWords as words } from './delivery-words.ts';

const SHAPES = { pending: '○', delivered: '●', failed: '✕' };
const TONES = { pending: 'in_progress', delivered: 'completed', failed: 'failed' };

/** The state of a delivery by a word and a shape. */
export function DeliveryState({ state }: { state: Delivery['state'] }): VNode {
  return (
    <span class={`state ${TONES[state]}`}>
      <span aria-hidden="true">{SHAPES[state]}</span> {words.states[state]}
    </span>
  );
}

/** Describes the last answer of the receiver. A status shows by itself that it is no success. */
export function lastAnswer({ lastStatus, lastError = '', attemptCount }: Delivery): string {
  const told = lastStatus === undefined ? noStatus(attemptCount) : String(lastStatus);
  return lastError === '' || lastError === 'status' ? told : words.because(told, errorText(lastError));
}

function noStatus(attemptCount: number): string {
  return attemptCount === 0 ? words.notYet : words.noAnswer;
}

/** Returns the text for the error of a delivery or of an attempt. */
export function errorText(error: string): string {
  return words.errors[error] ?? error;
}
