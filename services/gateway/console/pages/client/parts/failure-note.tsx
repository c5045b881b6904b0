import type { VNode } from 'preact';
import type { TaskMoney } from '../../../api/money.ts';
import type { TaskFailure } from '../../../api/tasks.ts';
import { plainMessage } from '../../../state/api.ts';
import { formatMoney, parseNanos } from '../../../parts/number-text.tsx';
import { taskWords } from '../task-words.ts';

const words = taskWords.failure;

export interface FailureNoteProps {
  readonly failure: TaskFailure;
  /** Undefined if the task has no money or it cannot be read. */
  readonly money: TaskMoney | undefined;
}

/** Explains a failure: the event, the party at fault, the cost, and a possible change. */
export function FailureNote({ failure, money }: FailureNoteProps): VNode {
  const { cause, code } = failure;
  const cost = describeCost(money);
  return (
    <section class="failure-note">
      <h2>{words.title}</h2>
      <p class="failure-message">{plainMessage(failure)}</p>
      {cause === undefined ? null : <p>{words.cause[cause]}</p>}
      {cost === undefined ? null : <p>{cost}</p>}
      <p>{words.advice[cause ?? 'unknown']}</p>
      <p class="small quiet">{words.code(code)}</p>
    </section>
  );
}

/** Returns undefined unless the money shows that the task is free. */
function describeCost(money: TaskMoney | undefined): string | undefined {
  if (money === undefined || money.basis === 'deferred') return undefined;
  if (money.charged === undefined) return words.returning(formatMoney(money.held));
  return parseNanos(money.charged.amount) === 0n ? words.free : undefined;
}
