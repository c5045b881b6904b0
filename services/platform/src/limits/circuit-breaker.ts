import { isRecent } from '../clock.ts';
import type { Clock } from '../clock.ts';

const FAULTS_TO_OPEN = 5;
const OPEN_MS = 30_000;

export type CircuitState = 'closed' | 'open' | 'half_open';

/** Leaves a peer alone for a while after several faults of its own in a row; then one call tries it. */
export interface Circuit {
  state(): CircuitState;
  /** Whether a call may try it now; half open, only the first that asks may. */
  mayTry(): boolean;
  /** The same for a caller that has nowhere else to go: one at a time may, however lately it failed. */
  mayTryAnyway(): boolean;
  worked(): void;
  failed(): void;
  /** The one that was let through has shown nothing: it met another limit, or had nothing to send. */
  undecided(): void;
}

export function newCircuit(clock: Clock): Circuit {
  let faults = 0;
  let openedAt = -Infinity;
  let triedAt = -Infinity;
  const state = (): CircuitState => {
    if (faults < FAULTS_TO_OPEN) return 'closed';
    return isRecent(clock, openedAt, OPEN_MS) ? 'open' : 'half_open';
  };
  const mayTryAnyway = (): boolean => {
    if (state() === 'closed') return true;
    // One that is never heard of again keeps the others out for as long as a fault of its own would have.
    if (isRecent(clock, triedAt, OPEN_MS)) return false;
    triedAt = clock.now();
    return true;
  };
  return {
    state,
    mayTryAnyway,
    mayTry: () => state() !== 'open' && mayTryAnyway(),
    worked: () => {
      faults = 0;
      triedAt = -Infinity;
    },
    failed: () => {
      faults += 1;
      triedAt = -Infinity;
      if (faults >= FAULTS_TO_OPEN) openedAt = clock.now();
    },
    undecided: () => {
      triedAt = -Infinity;
    },
  };
}
