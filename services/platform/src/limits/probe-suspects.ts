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
  readonly circuit: Pick<Circuit, 'isSuspected' | 'probed'>;
  /** Makes a call that costs nothing and in which nothing is of a caller. It may throw if there is no answer. */
  readonly probe: (signal: AbortSignal) => Promise<ProbeVerdict>;
}

/**
 * Probes the peers whose circuit is in doubt, and tells the circuits. So a peer that is down is found out even if one
 * caller alone uses it, and what one caller sends decides for no other.
 */
export async function probeSuspects(peers: readonly ProbedPeer[], stopping: AbortSignal): Promise<void> {
  const suspected = peers.filter(({ circuit }) => circuit.isSuspected()).slice(0, PROBES_MAX);
  await Promise.all(
    suspected.map(async ({ circuit, probe }) => {
      const bounds = AbortSignal.any([stopping, AbortSignal.timeout(PROBE_MS_MAX)]);
      const verdict = await probe(bounds).catch(() => 'down' as const);
      if (verdict !== 'unclear' && !stopping.aborted) circuit.probed(verdict);
    }),
  );
}

/** The verdict of the status of a list, which every holder of a key may read and not every server has. */
export function judgeProbe(status: number): ProbeVerdict {
  if (status >= 200 && status < 300) return 'up';
  return status === 401 || (status >= 500 && status !== 501) ? 'down' : 'unclear';
}
