import { Registry, collectDefaultMetrics } from 'prom-client';
import type { Metric, RegistryContentType } from 'prom-client';
import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { newCounter } from './counter.ts';
import type { Counter } from './counter.ts';
import { newGauge } from './gauge.ts';
import type { Collect, Gauges } from './gauge.ts';
import { newHistogram } from './histogram.ts';
import type { Histogram } from './histogram.ts';
import type { CountFamily, RegisteredMetric } from './labelled.ts';

export interface CounterRegistry {
  counter(name: string, help: string, labelNames?: readonly string[]): CountFamily<Counter>;
}

/**
 * The metrics of a program. A label has few values and is never an id. The same name returns the same metric, so two
 * parts may share a counter.
 */
export interface Metrics extends CounterRegistry {
  /** With `collect`, the gauge is set whenever the metrics are read. Several parts may collect values of one gauge. */
  gauge(name: string, help: string, labelNames?: readonly string[], collect?: Collect): Gauges;
  histogram(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames?: readonly string[],
  ): CountFamily<Histogram>;
  /** Returns the text in a format, without the metrics that have `withoutLabel`. */
  text(format?: TextFormat, withoutLabel?: string): Promise<string>;
}

export function newMetrics(withProcess: boolean, clock: Clock = systemClock): Metrics {
  const registered = new Map<string, RegisteredMetric>();
  const ofProcess = new Registry();
  if (withProcess) collectDefaultMetrics({ register: ofProcess });
  const metric = <M extends RegisteredMetric>(name: string, make: () => M): M => {
    const known = registered.get(name);
    if (known !== undefined) return known as M;
    const made = make();
    registered.set(name, made);
    return made;
  };
  return {
    counter: (name, help, labelNames = []) => metric(name, () => newCounter({ name, help, labelNames })),
    gauge: (name, help, labelNames = [], collect) =>
      metric(name, () => newGauge({ name, help, labelNames })).part(collect),
    histogram: (name, help, buckets, labelNames = []) =>
      metric(name, () => newHistogram({ name, help, labelNames, buckets, clock })),
    text: (format = 'prometheus', withoutLabel = '') =>
      formatMetrics(
        [...registered.values()].filter(({ labelNames }) => !labelNames.includes(withoutLabel)),
        ofProcess,
        format,
      ),
  };
}

/** Only OpenMetrics has exemplars. */
type TextFormat = 'prometheus' | 'openmetrics';

export const CONTENT_TYPES: Readonly<Record<TextFormat, RegistryContentType>> = {
  prometheus: Registry.PROMETHEUS_CONTENT_TYPE,
  openmetrics: Registry.OPENMETRICS_CONTENT_TYPE,
};

/**
 * Formats the metrics, including the metrics of the process. For OpenMetrics, prom-client renames a counter that it
 * shows. So each text has a registry of its own, with an object for each metric that inherits everything except the
 * name.
 */
async function formatMetrics(
  metrics: readonly RegisteredMetric[],
  ofProcess: Registry,
  format: TextFormat,
): Promise<string> {
  const registry = new Registry<RegistryContentType>();
  registry.setContentType(CONTENT_TYPES[format]);
  for (const metric of metrics) registry.registerMetric(toPromMetric(metric));
  for (const metric of ofProcess.getMetricsAsArray())
    registry.registerMetric(Object.create(metric as unknown as object) as Metric);
  return registry.metrics();
}

function toPromMetric({ name, type, get }: RegisteredMetric): Metric {
  const own = { name, type, get: async () => ({ ...(await get(own.name)), type }) };
  return own as unknown as Metric;
}

/** Returns the better of the two formats for an `Accept` header, and the Prometheus text if it prefers neither. */
export function formatFor(accept: string | undefined): TextFormat {
  const ranges = (accept ?? '').split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return { type, quality: quality === undefined ? 1 : Number(quality) };
  });
  const findQuality = (type: string): number =>
    Math.max(0, ...ranges.filter((range) => range.type === type).map(({ quality }) => quality || 0));
  return findQuality('application/openmetrics-text') > findQuality('text/plain') ? 'openmetrics' : 'prometheus';
}
