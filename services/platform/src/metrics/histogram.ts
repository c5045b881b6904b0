import { childrenOf } from './labelled.ts';
import type { LabelValues, Labelled, MetricOptions, RegisteredMetric, Sample } from './labelled.ts';

/** How often a quantity fell into each of a few ranges. */
export interface Histogram {
  observe(value: number): void;
}

interface HistogramChild extends Histogram {
  readonly labels: LabelValues;
  /** One count for each range; the last range has no upper end. */
  readonly counts: number[];
  sum: number;
}

/** A histogram that a registry of prom-client shows in its own format. */
export function newHistogram(
  options: MetricOptions,
  buckets: readonly number[],
): Labelled<Histogram> & RegisteredMetric {
  const children = childrenOf(options, (labels) => newChild(labels, buckets));
  const { name, help } = options;
  return {
    ...options,
    labels: (...values) => children.labels(...values),
    get: async () => ({
      name,
      help,
      type: 'histogram',
      aggregator: 'sum',
      values: children.all().flatMap((child) => samplesOf(child, name, buckets)),
    }),
    reset: () => {
      children.clear();
    },
  };
}

function newChild(labels: LabelValues, buckets: readonly number[]): HistogramChild {
  const child: HistogramChild = {
    labels,
    sum: 0,
    counts: Array.from({ length: buckets.length + 1 }, () => 0),
    observe: (value) => {
      let bucket = 0;
      while (bucket < buckets.length && value > (buckets[bucket] ?? Infinity)) bucket += 1;
      child.counts[bucket] = (child.counts[bucket] ?? 0) + 1;
      child.sum += value;
    },
  };
  return child;
}

function samplesOf({ labels, counts, sum }: HistogramChild, name: string, buckets: readonly number[]): Sample[] {
  let total = 0;
  const rows = counts.map((count, bucket): Sample => {
    total += count;
    return { labels: { le: buckets[bucket] ?? '+Inf', ...labels }, value: total, metricName: `${name}_bucket` };
  });
  return [
    ...rows,
    { labels, value: sum, metricName: `${name}_sum` },
    { labels, value: total, metricName: `${name}_count` },
  ];
}
