import type { Minute, Pulse } from '../src/clients/pulse-client.ts';

const MINUTE_MS = 60_000;
const MINUTE = 1000;
/** Half a minute into the minute in which a pulse is taken. */
export const PULSE_AT = MINUTE * MINUTE_MS + 30_000;

/** A pulse of a service at rest. */
export function aPulse(over: Partial<Pulse> = {}): Pulse {
  return {
    now: PULSE_AT,
    minutes: [],
    channels: new Map(),
    unfinished: 0,
    pollLagMs: 0,
    unsettled: 0,
    unsettledMs: 0,
    attention: 0,
    attentionSince: undefined,
    ...over,
  };
}

/** A minute of a service at rest. `ago` is its distance from the pulse, in minutes. */
export function aMinute(ago: number, over: Partial<Minute> = {}): Minute {
  return {
    at: (MINUTE - ago) * MINUTE_MS,
    created: 0,
    refusedByClient: 0,
    refusedByUpstream: 0,
    refusedByUs: 0,
    completed: 0,
    failedByClient: 0,
    failedByUpstream: 0,
    failedByUs: 0,
    polls: 0,
    latePolls: 0,
    settled: 0,
    ...over,
  };
}
