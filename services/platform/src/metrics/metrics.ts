import { Registry, collectDefaultMetrics } from 'prom-client';
import { systemClock } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { newCounter } from './counter.ts';
import type { Counter } from './counter.ts';
import { newGauge } from './gauge.ts';
import type { Collect, Gauges } from './gauge.ts';
import { newHistogram } from './histogram.ts';
import type { Histogram } from './histogram.ts';
import type { CountFamily, RegisteredMetric } from './labelled.ts';
import { formatMetrics } from './metrics-text.ts';
import type { TextFormat } from './metrics-text.ts';

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
