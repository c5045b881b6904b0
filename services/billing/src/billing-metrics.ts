import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { gaugeSampler } from '@reelgate/platform/metrics/sampled-gauges';
import type { Point } from '@reelgate/platform/metrics/sampled-gauges';
import { isProblem } from '@reelgate/platform/problem';
import type { Nanos } from './domain/money.ts';
import type { HeldMoney, MoneyStore } from './store/money/money-store.ts';

const NANOS_PER_UNIT = 1e9;
/** The outcome of a call that no refusal explains. */
const ERROR = 'error';

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
  /** Calls that used more than they were charged for. */
  readonly callOverrun: () => void;
  /** Money that was charged now, by no earlier call. */
  readonly charged: (charge: NewCharge) => void;
  /** Counts the cost of work at its upstream, and the charge that it is compared with. */
  readonly upstreamCost: (cost: Cost) => void;
}

export interface Cost {
  readonly channel: string;
  readonly priceKey: string;
  readonly currency: string;
  readonly amount: Nanos;
  /** The amount that was charged for the same work. */
  readonly charged: Nanos;
  /** `reported` by the upstream, or `estimated` by the upstream prices. */
  readonly source: 'reported' | 'estimated';
}

export interface NewCharge {
  readonly priceKey: string;
  readonly currency: string;
  readonly basis: string;
  readonly amount: Nanos;
}

export type Count = (outcome: string, times?: number) => void;

/** `models` are the models of the configuration. */
export function billingMeasures(metrics: Metrics, models: () => ReadonlySet<string>): Measures {
  const outcomeCounter = (name: string, help: string): Count => {
    const counter = metrics.counter(name, help, ['outcome']);
    counter.begin(() => [[ERROR]]);
    return (outcome, times = 1) => counter.labels(outcome).inc(times);
  };
  const plainCounter = (name: string, help: string): ((times?: number) => void) => {
    const counter = metrics.counter(name, help).labels();
    return (times = 1) => counter.inc(times);
  };
  const settled = metrics.counter(
    'reelgate_money_settled_total',
    'Charged money in units of the currency, by model and basis',
    ['model', 'basis', 'currency'],
  );
  const cost = metrics.counter(
    'reelgate_money_upstream_cost_total',
    'Cost of tasks and calls at their upstreams, reported or estimated by upstream prices, in units of the currency',
    ['channel', 'model', 'currency', 'source'],
  );
  const costed = metrics.counter(
    'reelgate_money_costed_total',
    'Charged money of tasks and calls whose cost at their upstreams is known, in units of the currency',
    ['channel', 'model', 'currency', 'source'],
  );
  return {
    upstreamCost: ({ channel, priceKey, currency, amount, charged, source }) => {
      const place = [channel, toModelLabel(priceKey, models()), currency, source] as const;
      cost.labels(...place).inc(toUnits(amount));
      costed.labels(...place).inc(toUnits(charged));
    },
    charged: ({ priceKey, basis, currency, amount }) =>
      settled.labels(toModelLabel(priceKey, models()), basis, currency).inc(toUnits(amount)),
    hold: outcomeCounter('reelgate_billing_holds_total', 'Calls that place a hold, by outcome'),
    extension: outcomeCounter('reelgate_billing_extensions_total', 'Calls that extend a hold, by outcome'),
    settlement: outcomeCounter('reelgate_billing_settlements_total', 'Calls that settle a hold, by outcome'),
    release: outcomeCounter('reelgate_billing_releases_total', 'Calls that release a hold, by outcome'),
    callPlacement: outcomeCounter(
      'reelgate_billing_call_placements_total',
      'Placed calls of the synchronous routes, by outcome',
    ),
    callEnd: outcomeCounter('reelgate_billing_call_ends_total', 'Settled calls of the synchronous routes, by basis'),
    callLapse: plainCounter(
      'reelgate_billing_call_lapses_total',
      'Lapsed calls of the synchronous routes, charged their hold',
    ),
    callOverrun: plainCounter('reelgate_billing_call_overruns_total', 'Calls whose usage was more than their charge'),
    authentication: outcomeCounter('reelgate_billing_authentications_total', 'Authenticated keys, by outcome'),
  };
}

/** The configured model to which a price key belongs: a part of the key before two underscores, or the whole. */
export function toModelLabel(priceKey: string, models: ReadonlySet<string>): string {
  for (let end = priceKey.length; end > 0; end = priceKey.lastIndexOf('__', end - 1)) {
    const model = priceKey.slice(0, end);
    if (models.has(model)) return model;
  }
  return 'removed';
}

/** For metrics alone: the exact amounts are in the ledger. */
function toUnits(amount: Nanos): number {
  return Number(amount) / NANOS_PER_UNIT;
}

/** Runs the work and counts its outcome. */
export async function runAndCount<T>(
  count: Count,
  work: () => Promise<T>,
  describe: (result: T) => string,
): Promise<T> {
  try {
    const result = await work();
    count(describe(result));
    return result;
  } catch (error) {
    count(isProblem(error) ? error.reason : ERROR);
    throw error;
  }
}

interface HeldMoneyDeps {
  readonly money: MoneyStore;
  readonly models: () => ReadonlySet<string>;
  readonly clock: Clock;
  readonly log: Log;
}

/** The money that is held, read when the metrics are read. */
export function watchHeldMoney({ money, models, clock, log }: HeldMoneyDeps, metrics: Metrics): void {
  gaugeSampler(metrics, { service: 'billing', clock, log }).add(
    [
      {
        name: 'reelgate_money_held',
        help: 'Held money in units of the currency, by model, over the whole database: aggregate with max',
        labelNames: ['model', 'currency'],
      },
    ],
    async () => [toGaugePoints(await money.held(), models())],
  );
}

function toGaugePoints(held: readonly HeldMoney[], models: ReadonlySet<string>): Point[] {
  const points = new Map<string, { readonly labels: readonly string[]; value: number }>();
  for (const { priceKey, currency, units } of held) {
    const labels = [toModelLabel(priceKey, models), currency];
    const point = points.get(labels.join(' ')) ?? { labels, value: 0 };
    point.value += units;
    points.set(labels.join(' '), point);
  }
  return [...points.values()];
}
