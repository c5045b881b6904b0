/** A metric. `labels` returns the child of one set of label values. A caller that counts often keeps the child. */
export interface MetricFamily<T> {
  labels(...values: readonly string[]): T;
}

/** Sets of label values. */
export type LabelSets = () => Iterable<readonly string[]>;

/** A family of metrics that count from 0 on. */
export interface CountFamily<T> extends MetricFamily<T> {
  /**
   * Shows these children with 0 before their first count. Prometheus sees no increase in a series that begins with its
   * first count, so the first burst would be missing in every rate. The sets are read again at every scrape.
   */
  begin(sets: LabelSets): void;
}

export interface MetricOptions {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

export type LabelValues = Readonly<Record<string, string | number>>;

export interface Sample {
  readonly labels: LabelValues;
  readonly value: number;
  readonly metricName?: string;
  readonly exemplar?: Exemplar;
}

/** One observation that stands for others, with the trace to which it belongs. */
export interface Exemplar {
  readonly labelSet: LabelValues;
  readonly value: number;
  /** In seconds since 1970. */
  readonly timestamp: number;
}

/** A metric of this folder. */
export interface RegisteredMetric extends MetricOptions {
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Its samples under a name, which a text format may shorten. */
  readonly get: (name: string) => Promise<{
    readonly name: string;
    readonly help: string;
    readonly aggregator: string;
    readonly values: readonly Sample[];
  }>;
  reset(): void;
}

export interface Children<T> extends CountFamily<T> {
  /** Returns the children in the order of their first use, including those that begin at 0. */
  all(): readonly T[];
  clear(): void;
}

/** One branch for each value of a label. A joined key would build and hash a new string at every count. */
interface Branch<T> {
  readonly branches: Map<string, Branch<T>>;
  leaf: T | undefined;
}

/**
 * The children of a metric. prom-client sorts and joins the labels at every count, which takes longer than the rest of
 * the count. Here a lookup costs one map access for each label. A metric without labels has its child from the start,
 * so that it shows 0.
 */
export function newChildren<T>(options: MetricOptions, make: (labels: LabelValues) => T): Children<T> {
  const root: Branch<T> = { branches: new Map(), leaf: undefined };
  const begun: LabelSets[] = [];
  let all: T[] = [];
  const labels = (...values: readonly string[]): T => {
    let branch = root;
    for (const value of values) {
      let next = branch.branches.get(value);
      if (next === undefined) branch.branches.set(value, (next = { branches: new Map(), leaf: undefined }));
      branch = next;
    }
    if (branch.leaf === undefined) all.push((branch.leaf = make(toLabelValues(options, values))));
    return branch.leaf;
  };
  if (options.labelNames.length === 0) labels();
  return {
    labels,
    begin: (sets) => {
      begun.push(sets);
    },
    all: () => {
      for (const sets of begun) for (const values of sets()) labels(...values);
      return all;
    },
    clear: () => {
      root.branches.clear();
      root.leaf = undefined;
      all = [];
    },
  };
}

function toLabelValues({ name, labelNames }: MetricOptions, values: readonly string[]): LabelValues {
  if (values.length !== labelNames.length)
    throw new Error(`${name} has ${labelNames.length} labels, but ${values.length} values were given`);
  return Object.fromEntries(labelNames.map((label, index) => [label, values[index] ?? '']));
}
