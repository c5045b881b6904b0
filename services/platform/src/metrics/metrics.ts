import type { Metric } from 'prom-client';
import { spreads, tallies } from './counters.ts';
import type { Family, RegisteredMetric, Spread, Tally } from './counters.ts';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** Where a service's numbers are kept. Labels have few values: never an id. */
export interface Metrics {
  counter(name: string, help: string, labels?: readonly string[]): Counter;
  gauge(
    name: string,
    help: string,
    labels?: readonly string[],
    collect?: (gauge: Gauge) => void | Promise<void>,
  ): Gauge;
  histogram(name: string, help: string, buckets: readonly number[], labels?: readonly string[]): Histogram;
  /** As a counter, for what is counted thousands of times a second. */
  tallies(name: string, help: string, labels: readonly string[]): Family<Tally>;
  /** As a histogram, for what is observed thousands of times a second. */
  spreads(name: string, help: string, buckets: readonly number[], labels: readonly string[]): Family<Spread>;
  /** The Prometheus text; without the series that have this label, where one is named. */
  text(withoutLabel?: string): Promise<string>;
  readonly contentType: string;
}

/** What prom-client keeps on a metric, and its types leave out. */
interface Labelled {
  readonly labelNames: readonly string[];
}

export function openMetrics(withProcess: boolean): Metrics {
  const registry = new Registry();
  if (withProcess) collectDefaultMetrics({ register: registry });
  return {
    counter: (name, help, labels = []) =>
      found<Counter>(registry, name) ?? new Counter({ name, help, labelNames: [...labels], registers: [registry] }),
    gauge: (name, help, labels = [], collect) =>
      found<Gauge>(registry, name) ??
      new Gauge({
        name,
        help,
        labelNames: [...labels],
        registers: [registry],
        ...(collect === undefined
          ? {}
          : {
              async collect(this: Gauge) {
                await collect(this);
              },
            }),
      }),
    histogram: (name, help, buckets, labels = []) =>
      found<Histogram>(registry, name) ??
      new Histogram({ name, help, labelNames: [...labels], buckets: [...buckets], registers: [registry] }),
    tallies: (name, help, labelNames) =>
      found<ReturnType<typeof tallies>>(registry, name) ?? registered(registry, tallies({ name, help, labelNames })),
    spreads: (name, help, buckets, labelNames) =>
      found<ReturnType<typeof spreads>>(registry, name) ??
      registered(registry, spreads({ name, help, labelNames }, buckets)),
    text: async (withoutLabel) => {
      if (withoutLabel === undefined) return registry.metrics();
      const shown = registry
        .getMetricsAsArray()
        .filter((metric) => !(metric as unknown as Labelled).labelNames.includes(withoutLabel));
      return (await Promise.all(shown.map(({ name }) => registry.getSingleMetricAsString(name)))).join('\n\n') + '\n';
    },
    contentType: registry.contentType,
  };
}

function found<T>(registry: Registry, name: string): T | undefined {
  return registry.getSingleMetric(name) as T | undefined;
}

function registered<T extends RegisteredMetric>(registry: Registry, metric: T): T {
  registry.registerMetric(metric as unknown as Metric);
  return metric;
}
