import type { GaugeSampler } from '../metrics/sampled-gauges.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { EventBacklog } from './bus.ts';

/** Told of the deliveries of an event after its first one. */
export interface Redeliveries {
  /** The consumer takes events from now on. */
  readonly begin: (consumer: string) => void;
  readonly count: (consumer: string) => void;
}

export const UNCOUNTED: Redeliveries = { begin: () => undefined, count: () => undefined };

export function countRedeliveries(metrics: Metrics): Redeliveries {
  const redelivered = metrics.counter(
    'reelgate_bus_redelivered_total',
    'Deliveries of an event after its first one, by consumer',
    ['consumer'],
  );
  return {
    begin: (consumer) => {
      redelivered.labels(consumer);
    },
    count: (consumer) => redelivered.labels(consumer).inc(),
  };
}

/** Adds the gauge of the events that wait for the groups of which this process is a member. */
export function watchBus(sampler: GaugeSampler, bus: EventBacklog): void {
  sampler.add(
    [
      {
        name: 'reelgate_bus_pending',
        help: 'Events that a group has not handled yet, over the whole bus: aggregate with max',
        labelNames: ['consumer'],
      },
    ],
    async () => [[...(await bus.pending())].map(([consumer, value]) => ({ labels: [consumer], value }))],
  );
}

/** The name of a group that takes events of one subject. NATS allows no dots in it. */
export function consumerName(group: string, subject: string): string {
  return `${group}-${subject.replaceAll('.', '-')}`;
}
