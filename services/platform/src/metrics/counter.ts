import { childrenOf } from './labelled.ts';
import type { LabelValues, Labelled, MetricOptions, RegisteredMetric } from './labelled.ts';

/** A number that only grows. */
export interface Counter {
  inc(count?: number): void;
}

interface CounterChild extends Counter {
  readonly labels: LabelValues;
  value: number;
}

/** A counter that a registry of prom-client shows in its own format. */
export function newCounter(options: MetricOptions): Labelled<Counter> & RegisteredMetric {
  const children = childrenOf(options, newChild);
  const { name, help } = options;
  return {
    ...options,
    labels: (...values) => children.labels(...values),
    get: async () => ({
      name,
      help,
      type: 'counter',
      aggregator: 'sum',
      values: children.all().map(({ labels, value }) => ({ labels, value })),
    }),
    reset: () => {
      children.clear();
    },
  };
}

function newChild(labels: LabelValues): CounterChild {
  const child: CounterChild = {
    labels,
    value: 0,
    inc: (count = 1) => {
      child.value += count;
    },
  };
  return child;
}
