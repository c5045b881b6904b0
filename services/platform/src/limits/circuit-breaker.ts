import { isRecent } from '../clock.ts';
import type { Clock } from '../clock.ts';

export const FAULTS_TO_OPEN = 5;
export const OPEN_MS = 30_000;

export type CircuitState = 'closed' | 'open' | 'half_open';
/** The outcome of a call, as evidence about its peer. */
export type CircuitReport = 'worked' | 'failed' | 'undecided';

/** The faults of a peer, as all replicas together know them. */
export interface KnownFaults {
  readonly faults: number;
  readonly openedAgoMs: number;
}

/** Stops calls to a peer for a while after several consecutive faults of the peer. Then one call tries it. */
export interface Circuit {
  state(): CircuitState;
  /** Reports whether a call may go to the peer now. If the circuit is half open, only the first caller may try. */
  mayTry(): boolean;
  /** The same for a caller without an alternative: one call at a time may go, even if the circuit is open. */
  mayTryAnyway(): boolean;
  worked(): void;
  failed(): void;
  /** The admitted call showed nothing about the peer: it met another limit, or sent nothing. */
  undecided(): void;
}

export interface SharedCircuit extends Circuit {
  known(): KnownFaults;
  /** Takes the knowledge of all replicas in place of its own. */
  learn(known: KnownFaults): void;
  /** The replicas have chosen this process to try the peer. */
  chosen(): void;
}

export function newCircuit(clock: Clock): Circuit {
  return newSharedCircuit(clock, () => undefined);
}

/** A circuit that tells the other replicas what they do not know yet. */
export function newSharedCircuit(clock: Clock, tell: (report: CircuitReport) => void): SharedCircuit {
  let faults = 0;
  let openedAt = -Infinity;
  let triedAt = -Infinity;
  const state = (): CircuitState => {
    if (faults < FAULTS_TO_OPEN) return 'closed';
    return isRecent(clock, openedAt, OPEN_MS) ? 'open' : 'half_open';
  };
  const mayTryAnyway = (): boolean => {
    if (state() === 'closed') return true;
    // a trial without a result blocks other calls only as long as a fault would
    if (isRecent(clock, triedAt, OPEN_MS)) return false;
    triedAt = clock.now();
    return true;
  };
  return {
    state,
    mayTryAnyway,
    mayTry: () => state() !== 'open' && mayTryAnyway(),
    worked: () => {
      if (faults > 0) tell('worked');
      faults = 0;
      triedAt = -Infinity;
    },
    failed: () => {
      tell('failed');
      faults += 1;
      triedAt = -Infinity;
      if (faults >= FAULTS_TO_OPEN) openedAt = clock.now();
    },
    undecided: () => {
      if (triedAt !== -Infinity) tell('undecided');
      triedAt = -Infinity;
    },
    known: () => ({ faults, openedAgoMs: Math.max(0, clock.now() - openedAt) }),
    learn: (known) => {
      ({ faults } = known);
      openedAt = clock.now() - known.openedAgoMs;
    },
    chosen: () => {
      triedAt = clock.now();
    },
  };
}
