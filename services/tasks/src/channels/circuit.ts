import type { Clock } from '@reelgate/platform/clock';

const FAULTS_TO_OPEN = 5;
const OPEN_MS = 30_000;

export type CircuitState = 'closed' | 'open' | 'half_open';

/** Leaves a channel alone for a while after several faults of its own in a row; then one order tries it. */
export interface Circuit {
  state(): CircuitState;
  /** Whether an order may try the channel now; half open, only the first that asks may. */
  mayTry(): boolean;
  worked(): void;
  failed(): void;
}

export function newCircuit(clock: Clock): Circuit {
  let faults = 0;
  let openUntil = 0;
  let trying = false;
  const state = (): CircuitState => {
    if (faults < FAULTS_TO_OPEN) return 'closed';
    return clock.now() < openUntil ? 'open' : 'half_open';
  };
  return {
    state,
    mayTry: () => {
      const now = state();
      if (now === 'open' || (now === 'half_open' && trying)) return false;
      trying = now === 'half_open';
      return true;
    },
    worked: () => {
      faults = 0;
      trying = false;
    },
    failed: () => {
      faults += 1;
      trying = false;
      if (faults >= FAULTS_TO_OPEN) openUntil = clock.now() + OPEN_MS;
    },
  };
}
