import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { isProblem } from '@reelgate/platform/problem';

/** Counts the calls that move money, by outcome: a word of this file's callers, or the reason of the refusal. */
export interface Measures {
  readonly hold: Count;
  readonly extension: Count;
  readonly settlement: Count;
  readonly release: Count;
  readonly authentication: Count;
  readonly callPlacement: Count;
  readonly callEnd: Count;
  /** Calls that lapsed before they were settled. */
  readonly callLapse: (times: number) => void;
  /** Calls whose usage was more than their charge. */
  readonly callOverrun: () => void;
}

export type Count = (outcome: string, times?: number) => void;

export function billingMeasures(metrics: Metrics): Measures {
  const counting = (name: string, help: string): Count => {
    const counter = metrics.counter(name, help, ['outcome']);
    return (outcome, times = 1) => {
      counter.labels(outcome).inc(times);
    };
  };
  const total = (name: string, help: string): ((times?: number) => void) => {
    const counter = metrics.counter(name, help).labels();
    return (times = 1) => {
      counter.inc(times);
    };
  };
  return {
    hold: counting('reelgate_billing_holds_total', 'Calls that place a hold, by outcome'),
    extension: counting('reelgate_billing_extensions_total', 'Calls that extend a hold, by outcome'),
    settlement: counting('reelgate_billing_settlements_total', 'Calls that settle a hold, by outcome'),
    release: counting('reelgate_billing_releases_total', 'Calls that release a hold, by outcome'),
    callPlacement: counting(
      'reelgate_billing_call_placements_total',
      'Placed calls of the synchronous routes, by outcome',
    ),
    callEnd: counting('reelgate_billing_call_ends_total', 'Settled calls of the synchronous routes, by basis'),
    callLapse: total(
      'reelgate_billing_call_lapses_total',
      'Lapsed calls of the synchronous routes, charged their hold',
    ),
    callOverrun: total('reelgate_billing_call_overruns_total', 'Calls whose usage was more than their charge'),
    authentication: counting('reelgate_billing_authentications_total', 'Authenticated keys, by outcome'),
  };
}

/** Runs the work and counts its outcome. */
export async function measured<T>(count: Count, work: () => Promise<T>, outcomeOf: (result: T) => string): Promise<T> {
  try {
    const result = await work();
    count(outcomeOf(result));
    return result;
  } catch (error) {
    count(isProblem(error) ? error.reason : 'error');
    throw error;
  }
}
