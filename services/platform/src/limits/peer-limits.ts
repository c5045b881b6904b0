import type { Clock } from '../clock.ts';
import { newSharedCircuit } from './circuit-breaker.ts';
import type { Circuit, CircuitReport, KnownFaults, SharedCircuit } from './circuit-breaker.ts';
import { newOwnTakes, newWindowLog } from './window-log.ts';
import type { OwnTakes, WindowLog } from './window-log.ts';

/** A full peer cannot predict when one of its calls ends. */
export const FULL_RETRY_MS = 1000;
/** The answers of the shared state. */
export const ADMITTED = { YES: 0, TRIAL: 1, CIRCUIT: 2, LIMIT: 3 } as const;

/** The limits that a peer sets. */
export interface PeerLimit {
  readonly perMinute: number;
  /** The maximum number of concurrent calls, and the number that run in this process. Undefined if not limited here. */
  readonly inFlight?: { readonly most: number; readonly inUse: () => number };
}

/** A call, as far as the choice of a peer asks. */
export interface CallOf {
  /** The account for which a fault of the peer is counted, if it is known. */
  readonly caller?: string | undefined;
  /** True if there is no alternative, so that one call at a time may go to a peer that is down. */
  readonly isLastResort?: boolean;
}

/** The limits and the circuit of a peer, which its replicas share as far as they can. */
export interface PeerLimits {
  readonly circuit: Circuit;
  /**
   * Takes one call. Returns 0, or the milliseconds after which the peer may be tried, infinite for a peer that is down.
   */
  admit(of?: CallOf): number | Promise<number>;
  /** Returns the milliseconds until a call may be admitted, as far as this process knows. It does not take a permit. */
  waitMs(): number;
  /**
   * Returns the milliseconds that all replicas together leave between calls if the calls of the next minutes are spread
   * evenly, as far as this process knows.
   */
  paceMs(): number;
  /** A call of this process has ended. */
  ended(): void;
  /** Takes the times of calls that were taken before the first call of this process, the oldest first. */
  learnTakes(times: readonly number[]): void;
}

/** The state of a peer that all replicas share, after one of them has called Redis. */
export interface SharedAdmission extends KnownFaults {
  readonly code: number;
  readonly waitMs: number;
  /** The calls that all replicas took in the last minute. */
  readonly used: number;
}

/** The state that the replicas share. While it is away each replica works with its part of the limits. */
export interface SharedState {
  isUsed(): boolean;
  /** The live replicas, this one included. */
  replicas(): number;
  /** The live replicas that cannot reach the shared state and so use their part. */
  missing(): number;
  /** Undefined if there is no answer in time. */
  admit(id: string, limit: PeerLimit, of: CallOf): Promise<SharedAdmission | undefined>;
  report(id: string, report: CircuitReport, caller: string | undefined): void;
  ended(id: string): void;
}

/** A peer as the shared state renews it. */
export interface SharedPeer {
  readonly limits: PeerLimits;
  readonly own: OwnTakes;
  limit(): PeerLimit;
  faults(): KnownFaults;
  learn(known: KnownFaults & { readonly used: number }): void;
  learnFaults(known: KnownFaults): void;
  /** Applies a new configuration. Its circuit is closed, because the fault may have been in the old one. */
  change(limit: PeerLimit): void;
}

interface Parts {
  readonly shared: SharedState;
  readonly circuit: SharedCircuit;
  /**
   * The calls that were taken in the last minute, as far as this process knows. A call that is taken without the
   * shared state counts once for each live replica, because the others may take as many.
   */
  readonly log: WindowLog;
  readonly own: OwnTakes;
  readonly limit: () => PeerLimit;
}

export interface NewPeer {
  readonly limit: PeerLimit;
  readonly clock: Clock;
  readonly shared: SharedState;
}

export function newSharedPeer(id: string, { limit: first, clock, shared }: NewPeer): SharedPeer {
  let limit = first;
  const circuit = newSharedCircuit(clock, (report, caller) => shared.report(id, report, caller));
  const parts: Parts = { shared, circuit, log: newWindowLog(clock), own: newOwnTakes(clock), limit: () => limit };
  const learn: SharedPeer['learn'] = (known) => {
    parts.log.learn(known.used);
    circuit.learn(known);
  };
  const admitShared = async (of: CallOf): Promise<number> => {
    if (!circuit.mayTryOwn(of.caller, of.isLastResort === true)) return Infinity;
    const answer = await shared.admit(id, { ...limit, perMinute: computeSharedPerMinute(parts) }, of);
    if (answer === undefined) return admitAlone(parts, of);
    learn(answer);
    if (answer.code === ADMITTED.CIRCUIT || answer.code === ADMITTED.LIMIT) {
      circuit.leaveOwn(of.caller);
      return answer.code === ADMITTED.LIMIT ? answer.waitMs : Infinity;
    }
    if (answer.code === ADMITTED.TRIAL) circuit.chosen(of.caller);
    parts.own.addCounted();
    return 0;
  };
  return {
    own: parts.own,
    limit: () => limit,
    faults: () => circuit.known(),
    learn,
    learnFaults: (known) => circuit.learn(known),
    change: (next) => {
      limit = next;
      circuit.worked();
    },
    limits: {
      circuit,
      admit: (of = {}) => (shared.isUsed() ? admitShared(of) : admitAlone(parts, of)),
      waitMs: () => parts.log.waitMs(limit.perMinute - (shared.isUsed() ? 1 : countPerTake(parts))),
      paceMs: () => parts.log.paceMs(limit.perMinute),
      ended: () => shared.ended(id),
      learnTakes: (times) => {
        for (const at of times) parts.log.add(1, at);
      },
    },
  };
}

/** Admits within this replica's part of the limits. */
function admitAlone(parts: Parts, { caller, isLastResort = false }: CallOf): number {
  const { circuit, log, own, shared } = parts;
  const { perMinute, inFlight } = parts.limit();
  const isTrial = circuit.state() !== 'closed';
  if (!(isLastResort ? circuit.mayTryAnyway(caller) : circuit.mayTry(caller))) return Infinity;
  const isFull =
    inFlight !== undefined && inFlight.inUse() > Math.max(1, Math.floor(inFlight.most / shared.replicas()));
  const waitMs = isFull ? FULL_RETRY_MS : log.waitMs(perMinute - countPerTake(parts));
  if (waitMs > 0) {
    // a call that took no trial must not end the trial of another call of its caller
    circuit[isTrial ? 'undecided' : 'leaveOwn'](caller);
    return waitMs;
  }
  log.add(countPerTake(parts));
  own.addUncounted();
  return 0;
}

/** A replica may always take one, even of a limit below the number of replicas. */
function countPerTake({ shared, limit }: Parts): number {
  return Math.min(shared.replicas(), limit().perMinute);
}

/** The parts of replicas that cannot reach the shared state are left to them. */
function computeSharedPerMinute({ shared, limit }: Parts): number {
  const { perMinute } = limit();
  const part = Math.max(1, Math.floor(perMinute / shared.replicas()));
  return Math.max(1, perMinute - shared.missing() * part);
}
