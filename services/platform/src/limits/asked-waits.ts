import type { TimeSource } from '../clock.ts';
import type { PeerLimits } from './peer-limits.ts';
import type { Rate } from './rate-limiter.ts';
import { ASKED_WAIT_MS_MAX } from './read-asked-wait.ts';

/** Of several answers at one moment, only answers that ask for considerably more are passed on. */
const TOLD_STEP_MS = 100;

/** The calls that a wait concerns: those that begin work, or those that read, search or cancel it. */
export const CALL_KINDS = ['work', 'reads'] as const;
export type CallKind = (typeof CALL_KINDS)[number];

/** An upstream has asked for no calls of a kind to a peer before a time. */
export interface AskedWait {
  readonly peer: string;
  readonly kind: CallKind;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** The waits that upstreams have asked for, as far as this process knows. */
export interface AskedWaits {
  /** Returns the milliseconds for which a peer gets no calls of a kind; 0 if it gets them now. */
  waitMs(peer: string, kind: CallKind): number;
  /** Records that an upstream asks for a wait. A wait that is shorter than the known one is ignored. */
  ask(peer: string, kinds: readonly CallKind[], ms: number): void;
  /** Takes the waits that other processes know. Returns whether one of them is new here. */
  learn(waits: readonly AskedWait[]): boolean;
}

/** Calls `report` with each wait that this process learns from an upstream. */
export function newAskedWaits(clock: TimeSource, report: (wait: AskedWait) => void = () => undefined): AskedWaits {
  const known = new Map<string, number>();
  const toKey = (peer: string, kind: CallKind): string => `${kind} ${peer}`;
  const learn = ({ peer, kind, until }: AskedWait): boolean => {
    const key = toKey(peer, kind);
    const before = known.get(key) ?? -Infinity;
    if (until > before) known.set(key, until);
    return until > before + TOLD_STEP_MS;
  };
  return {
    waitMs: (peer, kind) => {
      const until = known.get(toKey(peer, kind));
      // a clock that was set back cannot lengthen a wait beyond the longest
      return until === undefined ? 0 : Math.min(ASKED_WAIT_MS_MAX, Math.max(0, until - clock.now()));
    },
    ask: (peer, kinds, ms) => {
      if (ms <= 0) return;
      const until = clock.now() + Math.min(ms, ASKED_WAIT_MS_MAX);
      for (const kind of kinds) if (learn({ peer, kind, until })) report({ peer, kind, until });
    },
    learn: (waits) => waits.map(learn).includes(true),
  };
}

/** The limits of a peer that admit no call while its upstream has asked to wait. */
export function obeyWaits<Limits extends PeerLimits>(limits: Limits, waitMs: () => number): Limits {
  return {
    ...limits,
    admit: (of) => {
      const asked = waitMs();
      return asked > 0 ? asked : limits.admit(of);
    },
    waitMs: () => Math.max(waitMs(), limits.waitMs()),
  };
}

/** A rate that admits no call while its upstream has asked to wait. */
export function obeyWaitsAtRate(rate: Rate, waitMs: () => number): Rate {
  return {
    take: () => waitMs() === 0 && rate.take(),
    left: () => (waitMs() > 0 ? 0 : rate.left()),
    waitMs: () => Math.max(waitMs(), rate.waitMs()),
  };
}
