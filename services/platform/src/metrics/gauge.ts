import { newChildren } from './labelled.ts';
import type { Children, LabelValues, MetricFamily, MetricOptions, RegisteredMetric } from './labelled.ts';

/** A number that goes up and down, under one set of label values. */
export interface Gauge {
  set(value: number): void;
}

export interface Gauges extends MetricFamily<Gauge> {
  /** Drops every set of label values. */
  reset(): void;
}

/** Sets the gauge whenever the metrics are read. */
export type Collect = (gauge: Gauges) => void | Promise<void>;

interface GaugeChild extends Gauge {
  readonly labels: LabelValues;
  value: number;
}

interface Part {
  readonly children: Children<GaugeChild>;
  readonly gauges: Gauges;
  readonly collect: Collect | undefined;
}

export interface RegisteredGauge extends RegisteredMetric {
  /** Values of the gauge that `collect` alone sets. Without it, the values that are set directly. */
  part(collect: Collect | undefined): Gauges;
}

/** A gauge that a registry of prom-client shows in its own format. */
export function newGauge(options: MetricOptions): RegisteredGauge {
  const parts: Part[] = [];
  return {
    ...options,
    type: 'gauge',
    part: (collect) => {
      let part = parts.find((one) => one.collect === collect);
      if (part === undefined) parts.push((part = newPart(options, collect)));
      return part.gauges;
    },
    get: async (name) => {
      await Promise.all(parts.map(async ({ gauges, collect }) => collect?.(gauges)));
      return {
        name,
        help: options.help,
        aggregator: 'sum',
        values: parts.flatMap(({ children }) => children.all().map(({ labels, value }) => ({ labels, value }))),
      };
    },
    reset: () => {
      for (const { gauges } of parts) gauges.reset();
    },
  };
}

function newPart(options: MetricOptions, collect: Collect | undefined): Part {
  const children = newChildren(options, newGaugeChild);
  return {
    children,
    collect,
    gauges: {
      labels: (...values) => children.labels(...values),
      reset: () => children.clear(),
    },
  };
}

function newGaugeChild(labels: LabelValues): GaugeChild {
  const child: GaugeChild = {
    labels,
    value: 0,
    set: (value) => {
      child.value = value;
    },
  };
  return child;
}
