import type { Clock } from '../clock.ts';
import { newChildren } from './labelled.ts';
import type { CountFamily, Exemplar, LabelValues, MetricOptions, RegisteredMetric, Sample } from './labelled.ts';

/** Counts how often a quantity falls into each of a few ranges. */
export interface Histogram {
  /** `traceId` names the trace of the observation if it is sampled: the range keeps the last one as its exemplar. */
  observe(value: number, traceId?: string): void;
}

interface HistogramChild extends Histogram {
  readonly labels: LabelValues;
  /** A count for each range. The last range has no upper end. */
  readonly counts: number[];
  /** The last exemplar of each range, empty until one has come. */
  readonly exemplars: Exemplar[];
  sum: number;
}

export interface HistogramOptions extends MetricOptions {
  readonly buckets: readonly number[];
  /** Tells when an exemplar was observed. */
  readonly clock: Clock;
}

/** A histogram that a registry of prom-client shows in its own format. */
export function newHistogram(options: HistogramOptions): CountFamily<Histogram> & RegisteredMetric {
  const { name, help, labelNames, buckets } = options;
  const children = newChildren(options, (labels) => newHistogramChild(labels, options));
  return {
    name,
    help,
    labelNames,
    type: 'histogram',
    labels: (...values) => children.labels(...values),
    begin: (sets) => children.begin(sets),
    get: async (shownName) => ({
      name: shownName,
      help,
      aggregator: 'sum',
      values: children.all().flatMap((child) => toSamples(child, name, buckets)),
    }),
    reset: () => children.clear(),
  };
}

function newHistogramChild(labels: LabelValues, { buckets, clock }: HistogramOptions): HistogramChild {
  const child: HistogramChild = {
    labels,
    sum: 0,
    counts: Array.from({ length: buckets.length + 1 }, () => 0),
    exemplars: [],
    observe: (value, traceId) => {
      let bucket = 0;
      while (bucket < buckets.length && value > (buckets[bucket] ?? Infinity)) bucket += 1;
      child.counts[bucket] = (child.counts[bucket] ?? 0) + 1;
      child.sum += value;
      if (traceId !== undefined)
        child.exemplars[bucket] = { labelSet: { trace_id: traceId }, value, timestamp: clock.now() / 1000 };
    },
  };
  return child;
}

function toSamples(
  { labels, counts, exemplars, sum }: HistogramChild,
  name: string,
  buckets: readonly number[],
): Sample[] {
  let total = 0;
  const rows = counts.map((count, bucket): Sample => {
    total += count;
    const exemplar = exemplars[bucket];
    return {
      labels: { le: buckets[bucket] ?? '+Inf', ...labels },
      value: total,
      metricName: `${name}_bucket`,
      ...(exemplar === undefined ? {} : { exemplar }),
    };
  });
  return [
    ...rows,
    { labels, value: sum, metricName: `${name}_sum` },
    { labels, value: total, metricName: `${name}_count` },
  ];
}
