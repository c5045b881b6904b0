import { Gauge as PromGauge, Registry, collectDefaultMetrics } from 'prom-client';
import type { Metric } from 'prom-client';
import { newCounter } from './counter.ts';
import type { Counter } from './counter.ts';
import { newHistogram } from './histogram.ts';
import type { Histogram } from './histogram.ts';
import type { Labelled, RegisteredMetric } from './labelled.ts';

/** A number that goes up and down, under one set of label values. */
export interface Gauge {
  set(value: number): void;
}

export interface Gauges extends Labelled<Gauge> {
  /** Drops every set of label values. */
  reset(): void;
}

/**
 * The metrics of a program. A label has few values and is never an id. The same name gives the same metric, so two
 * parts may share a counter.
 */
export interface Metrics {
  counter(name: string, help: string, labelNames?: readonly string[]): Labelled<Counter>;
  /** With `collect`, the gauge is set whenever the metrics are read. */
  gauge(
    name: string,
    help: string,
    labelNames?: readonly string[],
    collect?: (gauge: Gauges) => void | Promise<void>,
  ): Gauges;
  histogram(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames?: readonly string[],
  ): Labelled<Histogram>;
  /** The Prometheus text; without the metrics that have this label, if one is named. */
  text(withoutLabel?: string): Promise<string>;
  readonly contentType: string;
}

export function openMetrics(withProcess: boolean): Metrics {
  const registry = new Registry();
  if (withProcess) collectDefaultMetrics({ register: registry });
  return {
    counter: (name, help, labelNames = []) =>
      found<ReturnType<typeof newCounter>>(registry, name) ??
      registered(registry, newCounter({ name, help, labelNames })),
    gauge: (name, help, labelNames = [], collect) =>
      found<PromGauge>(registry, name) ?? newGauge(registry, { name, help, labelNames: [...labelNames] }, collect),
    histogram: (name, help, buckets, labelNames = []) =>
      found<ReturnType<typeof newHistogram>>(registry, name) ??
      registered(registry, newHistogram({ name, help, labelNames }, buckets)),
    text: async (withoutLabel) => {
      if (withoutLabel === undefined) return registry.metrics();
      const shown = registry
        .getMetricsAsArray()
        .filter((metric) => !(metric as unknown as RegisteredMetric).labelNames.includes(withoutLabel));
      return (await Promise.all(shown.map(({ name }) => registry.getSingleMetricAsString(name)))).join('\n\n') + '\n';
    },
    contentType: registry.contentType,
  };
}

function newGauge(
  registry: Registry,
  options: { readonly name: string; readonly help: string; readonly labelNames: string[] },
  collect: ((gauge: Gauges) => void | Promise<void>) | undefined,
): PromGauge {
  if (collect === undefined) return new PromGauge({ ...options, registers: [registry] });
  return new PromGauge({
    ...options,
    registers: [registry],
    async collect(this: PromGauge) {
      await collect(this);
    },
  });
}

function found<T>(registry: Registry, name: string): T | undefined {
  return registry.getSingleMetric(name) as T | undefined;
}

function registered<T extends RegisteredMetric>(registry: Registry, metric: T): T {
  registry.registerMetric(metric as unknown as Metric);
  return metric;
}
