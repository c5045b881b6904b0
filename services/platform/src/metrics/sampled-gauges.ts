import { isRecent } from '../clock.ts';
import type { Clock } from '../clock.ts';
import { backgroundLog } from '../log.ts';
import type { Log } from '../log.ts';
import type { Gauges } from './gauge.ts';
import type { Metrics } from './metrics.ts';

/** A scrape within this time shows the same values. */
const FRESH_MS = 10_000;
/** A value that could not be read again is shown for this long. */
const KEPT_MS = 30_000;
/** A scrape waits so long for a new value while an old one can be shown. */
const WAIT_MS = 15;
/** The time for which a scrape waits for a first value. */
const FIRST_WAIT_MS = 500;

/** The value of a gauge under one set of label values. */
export interface Point {
  readonly labels: readonly string[];
  readonly value: number;
}

export interface SampledGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
}

/** Gauges with values from a source that can be slow or away, such as a database. */
export interface GaugeSampler {
  /** One read returns the points of each gauge, in the order of the gauges. */
  add(gauges: readonly SampledGauge[], read: () => Promise<readonly (readonly Point[])[]>): void;
}

export interface SamplerOptions {
  /** Names the source in the counter of errors. */
  readonly service: string;
  readonly clock: Clock;
  readonly log: Log;
}

interface Sample {
  readonly at: number;
  readonly points: readonly (readonly Point[])[];
}

/**
 * A scrape never waits long for the source and never fails with it: the values come from the last read, one read runs
 * at a time, and without a recent value the gauges are absent and the counter of errors rises.
 */
export function gaugeSampler(metrics: Metrics, { service, clock, log }: SamplerOptions): GaugeSampler {
  const errors = metrics
    .counter('reelgate_metrics_errors_total', 'Reads of values for the metrics that failed or took too long', [
      'service',
    ])
    .labels(service);
  const lines = backgroundLog(log);
  let queue: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = queue.then(work);
    queue = result.catch(() => undefined);
    return result;
  };

  return {
    add: (gauges, read) => {
      let last: Sample | undefined;
      let reading: Promise<void> | undefined;
      const readNow = async (): Promise<void> => {
        try {
          last = { points: await inTurn(read), at: clock.now() };
        } catch (error) {
          last = undefined;
          errors.inc();
          lines.warn({ gauge: gauges[0]?.name, err: error }, 'the numbers of a gauge could not be read');
        } finally {
          reading = undefined;
        }
      };
      const recent = (ms: number): Sample | undefined =>
        last !== undefined && isRecent(clock, last.at, ms) ? last : undefined;
      const sample = async (): Promise<Sample | undefined> => {
        if (recent(FRESH_MS) !== undefined) return last;
        reading ??= readNow();
        const isOver = await endsWithin(reading, clock, recent(KEPT_MS) === undefined ? FIRST_WAIT_MS : WAIT_MS);
        const shown = recent(KEPT_MS);
        if (shown === undefined && !isOver) errors.inc();
        return shown;
      };
      // the gauges of one read are collected at the same moment
      let collecting: Promise<Sample | undefined> | undefined;
      gauges.forEach(({ name, help, labelNames }, index) => {
        metrics.gauge(name, help, labelNames, async (gauge) => {
          collecting ??= sample().finally(() => {
            collecting = undefined;
          });
          show(gauge, (await collecting)?.points[index] ?? []);
        });
      });
    },
  };
}

function show(gauge: Gauges, points: readonly Point[]): void {
  gauge.reset();
  for (const { labels, value } of points) gauge.labels(...labels).set(value);
}

async function endsWithin(work: Promise<void>, clock: Clock, ms: number): Promise<boolean> {
  const over = new AbortController();
  try {
    return await Promise.race([work.then(() => true), clock.sleep(ms, over.signal).then(() => false)]);
  } finally {
    over.abort();
  }
}
