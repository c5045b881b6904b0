import type { Circuit } from './circuit-breaker.ts';

/** The time between two probes of a peer while there is doubt. */
export const PROBE_EVERY_MS = 5000;
/** A peer without an answer for this time is down. */
const PROBE_MS_MAX = 10_000;
/** The peers that are probed in one pass. */
const PROBES_MAX = 64;

/** The result of a call of our own to a peer. `unclear`: it answers, but not that it works. */
export type ProbeVerdict = 'up' | 'down' | 'unclear';

export interface ProbedPeer {
  /** Identifies the peer with its settings. */
  readonly of: object;
  readonly circuit: Pick<Circuit, 'isSuspected' | 'hasWorked' | 'probed'>;
  /** Sends a call that is free of charge and contains no data of a caller. It may throw if there is no answer. */
  readonly probe: (signal: AbortSignal) => Promise<ProbeVerdict>;
}

export interface Prober {
  /** Probes the peers with a circuit in doubt, and passes the verdicts to the circuits. */
  pass(peers: readonly ProbedPeer[], stopping: AbortSignal): Promise<void>;
}

/**
 * Detects a peer that is down even if one caller alone uses it, and prevents a caller's input from deciding for the
 * others.
 *
 * A probe with the verdict `down` counts only if its verdict was `up` while calls worked. Some upstreams have a list
 * that always fails, and calls that work nevertheless. So each peer is probed once after its calls have begun to work,
 * and again after each doubt.
 */
export function newProber(): Prober {
  /** The peers that were probed since their calls last began to work. */
  const checked = new WeakSet<object>();
  /** The peers for which probes have agreed with working calls. */
  const trusted = new WeakSet<object>();
  const takeVerdict = ({ of, circuit }: ProbedPeer, verdict: ProbeVerdict): void => {
    if (verdict === 'up') trusted.add(of);
    if (circuit.isSuspected()) {
      checked.delete(of);
      if (verdict === 'up' || (verdict === 'down' && trusted.has(of))) circuit.probed(verdict);
      return;
    }
    checked.add(of);
    if (verdict === 'down') trusted.delete(of);
  };
  return {
    pass: async (peers, stopping) => {
      const due = peers.filter(({ of, circuit }) => circuit.isSuspected() || (circuit.hasWorked() && !checked.has(of)));
      await Promise.all(
        due.slice(0, PROBES_MAX).map(async (peer) => {
          const bounds = AbortSignal.any([stopping, AbortSignal.timeout(PROBE_MS_MAX)]);
          const verdict = await peer.probe(bounds).catch(() => 'down' as const);
          if (!stopping.aborted) takeVerdict(peer, verdict);
        }),
      );
    },
  };
}

/** The verdict of the status of a list, which every holder of a key may read and not every server has. */
export function judgeProbe(status: number): ProbeVerdict {
  if (status >= 200 && status < 300) return 'up';
  return status === 401 || (status >= 500 && status !== 501) ? 'down' : 'unclear';
}
