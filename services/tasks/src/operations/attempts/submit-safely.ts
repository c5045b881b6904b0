import type { Circuit } from '@reelgate/platform/limits/circuit-breaker';
import type { Attempt, Channel, Submission } from '../../channels/channel.ts';

type Fault = Extract<Submission, { outcome: 'refused' }>['fault'];

/** The effect of a refusal on the circuit. An upstream that answers works; one that was not asked is undecided. */
const CIRCUIT_AFTER: Readonly<Record<Fault, 'failed' | 'worked' | 'undecided'>> = {
  channel: 'failed',
  throttle: 'worked',
  content: 'worked',
  order: 'worked',
  unfit: 'undecided',
};

/** A channel should throw nothing. If it does, it is unknown whether its upstream has accepted the order. */
export async function submitSafely(channel: Channel, attempt: Attempt, signal: AbortSignal): Promise<Submission> {
  try {
    return await channel.submit(attempt, signal);
  } catch (error) {
    return { outcome: 'unknown', error: String(error) };
  }
}

/**
 * Reports each submission once, even if its outcome cannot be written. A lost answer counts as a failure: a channel
 * that hangs must be left alone, because a person may have to search for each order that it was given.
 */
export function reportToCircuit(circuit: Circuit, submission: Submission): void {
  if (submission.outcome === 'accepted') circuit.worked();
  else if (submission.outcome === 'unknown') circuit.failed();
  else circuit[CIRCUIT_AFTER[submission.fault]]();
}
