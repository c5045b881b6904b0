import { isRecent } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { newOwnCircuits } from './own-circuits.ts';

export const FAULTS_TO_OPEN = 5;
export const OPEN_MS = 30_000;
/**
 * The faults of one caller that count among those that open a circuit. What a caller sends may have caused them, so one
 * caller alone opens no circuit for the others.
 */
export const FAULTS_OF_CALLER_MAX = 3;
/** The callers that try a half-open circuit at the same time. A trial that hangs keeps no other caller from trying. */
export const TRIALS_MAX = 3;

export type CircuitState = 'closed' | 'open' | 'half_open';
/** The outcome of a call, or of a probe (`up`, `down`), as evidence about its peer. */
export type CircuitReport = 'worked' | 'failed' | 'undecided' | 'up' | 'down';

/** The faults of a peer, as all replicas together know them. */
export interface KnownFaults {
  readonly faults: number;
  readonly openedAgoMs: number;
}

/**
 * Stops calls to a peer for a while after several consecutive faults of the peer. Then a few calls try it.
 *
 * Faults count by caller. The circuit opens for all callers if several of them had faults, if the peer could not be
 * reached, or if a probe finds it down. After as many faults of one caller it is open for this caller alone. A fault
 * without a caller is a fault that no input can cause.
 */
export interface Circuit {
  state(): CircuitState;
  /** Reports whether a probe can help, which is so unless the circuit is closed for all callers. */
  isSuspected(): boolean;
  /** Reports whether a call of this process has ever worked. */
  hasWorked(): boolean;
  /** Reports whether the circuit is open for this caller, alone or with all others. It does not take a trial. */
  isOpenFor(caller?: string): boolean;
  /** Reports whether a call may go to the peer now. If the circuit is half open, each caller may try once. */
  mayTry(caller?: string): boolean;
  /**
   * Does the same for a call without an alternative: one call of a caller at a time may pass, even if the circuit is
   * open.
   */
  mayTryAnyway(caller?: string): boolean;
  /** Closes the circuit for all callers. */
  worked(): void;
  failed(caller?: string): void;
  /** The admitted call gave no evidence about the peer: it met another limit, or was never sent. */
  undecided(caller?: string): void;
  /**
   * The peer refused the content of the admitted call. The peer answers this caller, so the faults in a row of this
   * caller end. It is no evidence for the calls of others.
   */
  refused(caller: string): void;
  /**
   * Takes the verdict of a probe. `down` opens a closed circuit. `up` takes back the faults without a caller. The
   * faults of callers remain until a call works.
   */
  probed(verdict: 'up' | 'down'): void;
}

export interface SharedCircuit extends Circuit {
  known(): KnownFaults;
  /** Takes the knowledge of all replicas in place of its own. */
  learn(known: KnownFaults): void;
  /** The part of `mayTry` and `mayTryAnyway` that each process decides: by the faults of this caller alone. */
  mayTryOwn(caller: string | undefined, isAnyway: boolean): boolean;
  /** The replicas have not admitted the call, so it is no trial of its caller. */
  leaveOwn(caller: string | undefined): void;
  /** The replicas have chosen a call of this caller to try the peer. */
  chosen(caller?: string): void;
}

export function newCircuit(clock: Clock): Circuit {
  return newSharedCircuit(clock, () => undefined);
}

/** Reports to the other replicas the evidence that they do not have yet. */
export type SendReport = (report: CircuitReport, caller?: string) => void;

export function newSharedCircuit(clock: Clock, report: SendReport): SharedCircuit {
  const evidence = newEvidence();
  const own = newOwnCircuits(clock, { faultsToOpen: FAULTS_TO_OPEN, openMs: OPEN_MS });
  const trials = newTrials(clock);
  let openedAt = -Infinity;
  let hasWorked = false;
  /** The caller of the last failed trial. */
  let doubtful: string | undefined;
  const state = (): CircuitState => {
    if (evidence.faults() < FAULTS_TO_OPEN) return 'closed';
    return isRecent(clock, openedAt, OPEN_MS) ? 'open' : 'half_open';
  };
  const open = (): void => {
    openedAt = clock.now();
    doubtful = undefined;
  };
  const close = (): void => {
    evidence.clear();
    own.clear();
    trials.clear();
    doubtful = undefined;
  };
  const mayTryOwn = (caller = '', isAnyway: boolean): boolean => own.mayTry(caller, isAnyway);
  const takeTrial = (caller: string): boolean => {
    if (state() === 'closed' || trials.take(caller)) return true;
    own.undecided(caller);
    return false;
  };
  const endTrial = (caller: string): void => {
    if (trials.end(caller)) report('undecided', caller);
  };
  return {
    state,
    mayTryOwn,
    leaveOwn: own.undecided,
    isSuspected: () => state() !== 'closed' || own.isAnyOpen(),
    hasWorked: () => hasWorked,
    isOpenFor: (caller = '') => state() === 'open' || own.isOpen(caller),
    mayTry: (caller = '') => state() !== 'open' && mayTryOwn(caller, false) && takeTrial(caller),
    mayTryAnyway: (caller = '') => mayTryOwn(caller, true) && takeTrial(caller),
    worked: () => {
      hasWorked = true;
      if (evidence.isAny() || own.isAnyKnown()) report('worked');
      close();
    },
    failed: (caller) => {
      report('failed', caller);
      trials.end(caller ?? '');
      const before = state();
      evidence.add(caller);
      if (caller !== undefined) own.failed(caller, before !== 'closed');
      if (evidence.faults() < FAULTS_TO_OPEN) return;
      // the trial of one caller is no evidence for the calls of the others
      if (before === 'closed' || evidence.isSure(caller) || (doubtful ?? caller) !== caller) open();
      else doubtful = caller;
    },
    undecided: (caller = '') => {
      endTrial(caller);
      own.undecided(caller);
    },
    refused: (caller) => {
      endTrial(caller);
      own.forget(caller);
    },
    probed: (verdict) => {
      report(verdict);
      const before = state();
      const isShared = evidence.isLearned();
      evidence.probed(verdict);
      if (before === 'closed' && verdict === 'down') open();
      // the replicas report the remaining faults that they know
      if (evidence.faults() === 0 && !isShared) close();
    },
    known: () => ({ faults: evidence.faults(), openedAgoMs: Math.max(0, clock.now() - openedAt) }),
    learn: (known) => {
      if (known.faults === 0) close();
      evidence.learn(known.faults);
      openedAt = clock.now() - known.openedAgoMs;
    },
    chosen: trials.begin,
  };
}

/** The callers that are trying a half-open circuit. */
interface Trials {
  /** Begins a trial if this caller has none and there are not too many. */
  take(caller: string): boolean;
  readonly begin: (caller?: string) => void;
  /** Returns whether this caller had begun one. */
  end(caller: string): boolean;
  clear(): void;
}

function newTrials(clock: Clock): Trials {
  const begunAt = new Map<string, number>();
  const begin = (caller = ''): void => {
    begunAt.set(caller, clock.now());
  };
  return {
    begin,
    take: (caller) => {
      // a trial without a result blocks other calls only as long as a fault would
      for (const [who, at] of begunAt) if (!isRecent(clock, at, OPEN_MS)) begunAt.delete(who);
      if (begunAt.has(caller) || begunAt.size >= TRIALS_MAX) return false;
      begin(caller);
      return true;
    },
    end: (caller) => begunAt.delete(caller),
    clear: () => begunAt.clear(),
  };
}

/** The evidence against a peer. */
interface Evidence {
  /** The faults that count. */
  faults(): number;
  isAny(): boolean;
  /** Reports whether the replicas know of faults. */
  isLearned(): boolean;
  /**
   * Reports whether a fault of this caller is certainly a fault of the peer: no input causes it, or the probe agrees.
   */
  isSure(caller: string | undefined): boolean;
  add(caller: string | undefined): void;
  probed(verdict: 'up' | 'down'): void;
  learn(faults: number): void;
  clear(): void;
}

function newEvidence(): Evidence {
  const byCaller = new Map<string, number>();
  /** The faults that no input can cause. */
  let sure = 0;
  /** The faults that the replicas together know. */
  let learned = 0;
  let isDown = false;
  const faults = (): number => {
    if (learned >= FAULTS_TO_OPEN) return learned;
    return byCaller.values().reduce((sum, count) => sum + Math.min(count, FAULTS_OF_CALLER_MAX), sure);
  };
  return {
    faults,
    isLearned: () => learned > 0,
    isAny: () => learned > 0 || sure > 0 || byCaller.size > 0,
    isSure: (caller) => caller === undefined || isDown,
    add: (caller) => {
      if (caller === undefined) sure += 1;
      // an open circuit needs no more, so there are never many
      else if (faults() < FAULTS_TO_OPEN) byCaller.set(caller, (byCaller.get(caller) ?? 0) + 1);
    },
    probed: (verdict) => {
      isDown = verdict === 'down';
      // the evidence of the replicas stays until they have answered, because it includes the faults of callers
      sure = isDown ? Math.max(sure, FAULTS_TO_OPEN) : 0;
    },
    learn: (known) => {
      learned = known;
      sure = 0;
      byCaller.clear();
    },
    clear: () => {
      learned = 0;
      sure = 0;
      isDown = false;
      byCaller.clear();
    },
  };
}
