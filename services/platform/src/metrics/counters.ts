/** A number that only grows, under one set of labels. */
export interface Tally {
  add(count?: number): void;
}

/** How often a quantity fell into each of a few ranges, under one set of labels. */
export interface Spread {
  observe(value: number): void;
}

/** One metric with its labels; what stands under a set of them is found once and kept by whoever counts. */
export interface Family<T> {
  of(...labels: readonly string[]): T;
}

interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  readonly metricName?: string;
}

/** What a registry of prom-client asks of a metric. */
export interface RegisteredMetric {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  get(): Promise<{
    readonly name: string;
    readonly help: string;
    readonly type: string;
    readonly aggregator: string;
    readonly values: readonly Sample[];
  }>;
  reset(): void;
}

export interface FamilyInit {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/*
 * prom-client sorts and joins the labels at every count, which takes longer than anything else about it. Here they are looked at once.
 * Both kinds are shown in its format by its own registry.
 */

export function tallies(init: FamilyInit): Family<Tally> & RegisteredMetric {
  const counts = byLabels((labels) => newCount(named(init, labels)));
  return {
    ...init,
    of: (...labels) => counts.of(labels).tally,
    get: async () => ({
      ...shown(init),
      type: 'counter',
      values: counts.all().map(({ labels, value }) => ({ labels, value })),
    }),
    reset: () => {
      counts.clear();
    },
  };
}

interface Count {
  readonly labels: Sample['labels'];
  value: number;
  readonly tally: Tally;
}

function newCount(labels: Sample['labels']): Count {
  const made: Count = {
    labels,
    value: 0,
    tally: {
      add: (count = 1) => {
        made.value += count;
      },
    },
  };
  return made;
}

export function spreads(init: FamilyInit, buckets: readonly number[]): Family<Spread> & RegisteredMetric {
  const counted = byLabels((labels) => newCounted(named(init, labels), buckets));
  return {
    ...init,
    of: (...labels) => counted.of(labels).spread,
    get: async () => ({
      ...shown(init),
      type: 'histogram',
      values: counted.all().flatMap((one) => samplesOf(one, init.name, buckets)),
    }),
    reset: () => {
      counted.clear();
    },
  };
}

interface ByLabels<T> {
  of(labels: readonly string[]): T;
  /** In the order in which they were first asked for. */
  all(): readonly T[];
  clear(): void;
}

/** One branch for each value of a label: to look values up one by one makes no new text, which would have to be hashed each time. */
interface Branch<T> {
  readonly branches: Map<string, Branch<T>>;
  leaf: T | undefined;
}

function byLabels<T>(make: (labels: readonly string[]) => T): ByLabels<T> {
  const root: Branch<T> = { branches: new Map(), leaf: undefined };
  let all: T[] = [];
  return {
    of: (labels) => {
      let branch = root;
      for (const label of labels) {
        let next = branch.branches.get(label);
        if (next === undefined) branch.branches.set(label, (next = { branches: new Map(), leaf: undefined }));
        branch = next;
      }
      if (branch.leaf === undefined) all.push((branch.leaf = make(labels)));
      return branch.leaf;
    },
    all: () => all,
    clear: () => {
      root.branches.clear();
      root.leaf = undefined;
      all = [];
    },
  };
}

interface Counted {
  readonly labels: Sample['labels'];
  /** In each range, the last one without an end. */
  readonly counts: number[];
  sum: number;
  readonly spread: Spread;
}

function newCounted(labels: Sample['labels'], buckets: readonly number[]): Counted {
  const made: Counted = {
    labels,
    sum: 0,
    counts: Array.from({ length: buckets.length + 1 }, () => 0),
    spread: {
      observe: (value) => {
        let at = 0;
        while (at < buckets.length && value > (buckets[at] ?? Infinity)) at += 1;
        made.counts[at] = (made.counts[at] ?? 0) + 1;
        made.sum += value;
      },
    },
  };
  return made;
}

function samplesOf({ labels, counts, sum }: Counted, name: string, buckets: readonly number[]): Sample[] {
  let below = 0;
  const rows = counts.map((count, at): Sample => {
    below += count;
    return { labels: { le: buckets[at] ?? '+Inf', ...labels }, value: below, metricName: `${name}_bucket` };
  });
  return [
    ...rows,
    { labels, value: sum, metricName: `${name}_sum` },
    { labels, value: below, metricName: `${name}_count` },
  ];
}

function shown({ name, help }: FamilyInit): {
  readonly name: string;
  readonly help: string;
  readonly aggregator: string;
} {
  return { name, help, aggregator: 'sum' };
}

function named({ name, labelNames }: FamilyInit, labels: readonly string[]): Sample['labels'] {
  if (labels.length !== labelNames.length)
    throw new Error(`${name} has ${String(labelNames.length)} labels and was given ${String(labels.length)}`);
  return Object.fromEntries(labelNames.map((label, at) => [label, labels[at] ?? '']));
}
