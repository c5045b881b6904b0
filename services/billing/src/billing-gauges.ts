import type { Foundation } from '@reelgate/platform/foundation';
import { gaugeSampler } from '@reelgate/platform/metrics/sampled-gauges';
import type { Point } from '@reelgate/platform/metrics/sampled-gauges';
import { toModelLabel } from './billing-metrics.ts';
import type { BillingDeps } from './operations/deps.ts';
import type { HeldMoney, ReadHeldMoney } from './store/balances/held-money.ts';

/** The money that is held, read when the metrics are read. */
export function watchHeldMoney(
  readHeld: ReadHeldMoney,
  { models }: Pick<BillingDeps, 'models'>,
  { metrics, clock, log }: Pick<Foundation, 'metrics' | 'clock' | 'log'>,
): void {
  gaugeSampler(metrics, { service: 'billing', clock, log }).add(
    [
      {
        name: 'reelgate_money_held',
        help: 'Held money in units of the currency, by model, over the whole database: aggregate with max',
        labelNames: ['model', 'currency'],
      },
    ],
    async () => [toGaugePoints(await readHeld(), models())],
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
