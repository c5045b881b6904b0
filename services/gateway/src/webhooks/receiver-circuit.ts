import type { AttemptVerdict, CircuitCount } from '../clients/webhook-work-client.ts';

/** The attempts to one receiver that are under way at once. */
const CONCURRENCY = 4;
/** The tasks service then lets the receiver rest. */
const FAILURES_MAX = 5;

/** The failures of a receiver in a row, over all its leases, counted as the tasks service counts them. */
export interface ReceiverCircuit {
  /** Grows with each failure that is counted, and with a success after failures. */
  count(): number;
  /** Returns the number of attempts that may be under way: one while the receiver fails, none once it is to rest. */
  concurrency(): number;
  note(attempt: AttemptVerdict): void;
}

/** A receiver that rested gets one attempt as a trial. */
export function openCircuit({ failures, circuit }: CircuitCount): ReceiverCircuit {
  let count = circuit;
  let isFailing = failures > 0;
  let left = Math.max(1, FAILURES_MAX - failures);
  return {
    count: () => count,
    concurrency: () => (left <= 0 ? 0 : isFailing ? 1 : CONCURRENCY),
    note: ({ error, circuit: begun }) => {
      if (error === '') {
        if (isFailing) count += 1;
        isFailing = false;
        left = FAILURES_MAX;
      } else if (begun >= count) {
        count = begun + 1;
        isFailing = true;
        left -= 1;
      }
    },
  };
}
