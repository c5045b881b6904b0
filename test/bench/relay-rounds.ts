import { cpuMsOf } from './bench-program.ts';
import { closedLoop, inTurns, median, openLoop, quantile, ROUNDS } from './load.ts';
import type { Connection } from './load.ts';
import { openRelayLine } from './relay-line.ts';

const ROUND_MS = 1500;

/** A program to call: the upstream itself, the product, another relay. */
export interface RelayTarget {
  readonly port: number;
  readonly request: Buffer;
  /** The processes whose processor time counts. */
  readonly pids: () => readonly number[];
}

/** Calls that are kept under way, or calls that begin each second. */
export type Load = { readonly inFlight: number } | { readonly perSecond: number };

export interface RelayFigures {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** The time to the first byte of the body. */
  readonly firstP50: number;
  /** The processor time of a call. Other work on the machine hardly changes it. */
  readonly cpuUs: number;
}

/**
 * What was measured on each side: the medians, and the medians of what a side adds to the direct calls of its round.
 */
export interface RelayRounds<Side extends string> {
  of(side: Side | 'direct', figure: keyof RelayFigures): number;
  added(side: Side, figure: 'p50' | 'p99' | 'firstP50'): number;
}

/** Measures all sides alternately, so that they have the same load of the machine. */
export async function relayRounds<Side extends string>(
  load: Load,
  targets: Readonly<Record<Side | 'direct', RelayTarget>>,
): Promise<RelayRounds<Side>> {
  const sides = Object.fromEntries(
    Object.entries<RelayTarget>(targets).map(([side, target]) => [side, () => relayLoad(target, load, ROUND_MS)]),
  ) as Record<Side | 'direct', () => Promise<RelayFigures>>;
  const rounds = await inTurns(ROUNDS, sides);
  return {
    of: (side, figure) => median(rounds[side].map((round) => round[figure])),
    added: (side, figure) => median(rounds[side].map((round, index) => round[figure] - rounds.direct[index]![figure])),
  };
}

export async function relayLoad({ port, request, pids }: RelayTarget, load: Load, ms: number): Promise<RelayFigures> {
  const firsts: number[] = [];
  const open = async (to: number): Promise<Connection> => {
    const line = await openRelayLine(to);
    return {
      ask: async (bytes) => {
        const timed = await line.ask(bytes);
        firsts.push(timed.firstMs);
        return timed;
      },
      close: () => {
        line.close();
      },
    };
  };
  const target = { port, request: () => request, open };
  const cpuMs = (): number => pids().reduce((sum, pid) => sum + cpuMsOf(pid), 0);
  const before = cpuMs();
  const { perSecond, latencies } = await ('inFlight' in load
    ? closedLoop(target, load.inFlight, ms)
    : openLoop(target, load.perSecond, ms));
  return {
    perSecond,
    p50: median(latencies),
    p99: quantile(latencies, 0.99),
    firstP50: median(firsts),
    cpuUs: ((cpuMs() - before) * 1000) / latencies.length,
  };
}
