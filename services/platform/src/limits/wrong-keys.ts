import type { TimeSource } from '../clock.ts';
import type { WarningLog } from '../log.ts';
import type { CounterRegistry } from '../metrics/metrics.ts';
import { sourceNetwork } from '../source-address.ts';

/** An address has one line in this time, with the number of keys since its last one. */
const LINE_EVERY_MS = 60_000;
/** Lines about all addresses in that time, so that many addresses do not fill the log. The metric counts on. */
const LINES_MAX = 60;
/** The maximum number of addresses that had a line. The oldest address is dropped first. */
const ADDRESSES_MAX = 10_000;

/** The interface that received a key: the console of operators, or the RPCs of internal callers. */
export type KeyDoor = 'operators' | 'callers';
/** The outcome of a wrong key: it was checked, or it was refused because its address had sent too many. */
export type WrongKeyOutcome = 'wrong' | 'refused';

/** Counts wrong keys, and warns of the addresses that they come from. */
export interface WrongKeys {
  note(address: string, outcome: WrongKeyOutcome): void;
}

export interface WrongKeysOptions {
  readonly door: KeyDoor;
  readonly clock: TimeSource;
  readonly log: WarningLog;
  /** Without it, only the log mentions them. */
  readonly metrics?: CounterRegistry | undefined;
}

interface WarnState {
  at: number;
  unlogged: number;
}

export function newWrongKeys({ door, clock, log, metrics }: WrongKeysOptions): WrongKeys {
  const counter = metrics?.counter('reelgate_wrong_keys_total', 'Wrong keys by interface and outcome', [
    'door',
    'outcome',
  ]);
  counter?.begin(() => [
    [door, 'wrong'],
    [door, 'refused'],
  ]);
  const addresses = new Map<string, WarnState>();
  let lines: WarnState = { at: clock.now(), unlogged: 0 };
  const mayWrite = (now: number): boolean => {
    if (now - lines.at >= LINE_EVERY_MS) lines = { at: now, unlogged: 0 };
    lines.unlogged += 1;
    return lines.unlogged <= LINES_MAX;
  };
  const findWarnState = (network: string): WarnState => {
    const known = addresses.get(network) ?? { at: Number.NEGATIVE_INFINITY, unlogged: 0 };
    addresses.set(network, known);
    const [first = ''] = addresses.size > ADDRESSES_MAX ? addresses.keys() : [];
    addresses.delete(first);
    return known;
  };
  return {
    note: (address, outcome) => {
      counter?.labels(door, outcome).inc();
      const known = findWarnState(sourceNetwork(address));
      known.unlogged += 1;
      const now = clock.now();
      if (now - known.at < LINE_EVERY_MS || !mayWrite(now)) return;
      log.warn({ door, address, wrongKeys: known.unlogged }, 'an address sends wrong keys');
      known.at = now;
      known.unlogged = 0;
    },
  };
}
