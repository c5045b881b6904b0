import { newChildren } from './labelled.ts';
import type { CountFamily, LabelValues, MetricOptions, RegisteredMetric } from './labelled.ts';

/** A number that only grows. */
export interface Counter {
  inc(count?: number): void;
}

interface CounterChild extends Counter {
  readonly labels: LabelValues;
  value: number;
}

/** A counter that a registry of prom-client shows in its own format. */
export function newCounter(options: MetricOptions): CountFamily<Counter> & RegisteredMetric {
  const children = newChildren(options, newCounterChild);
  return {
    ...options,
    type: 'counter',
    labels: (...values) => children.labels(...values),
    begin: (sets) => children.begin(sets),
    get: async (name) => ({
      name,
      help: options.help,
      aggregator: 'sum',
      values: children.all().map(({ labels, value }) => ({ labels, value })),
    }),
    reset: () => children.clear(),
  };
}

function newCounterChild(labels: LabelValues): CounterChild {
  const child: CounterChild = {
    labels,
    value: 0,
    inc: (count = 1) => {
      child.value += count;
    },
  };
  return child;
}
