import { ENDPOINT_OF } from '../channel.ts';
import type { ChannelFactory, Endpoint } from '../channel.ts';

/** A channel that refuses, without asking its upstream, an order of a kind that the upstream does not know. */
export function onlyEndpoints(endpoints: readonly Endpoint[], factory: ChannelFactory): ChannelFactory {
  return (settings, clock) => {
    const channel = factory(settings, clock);
    return {
      ...channel,
      submit: async (attempt, signal) =>
        endpoints.includes(ENDPOINT_OF[attempt.kind])
          ? channel.submit(attempt, signal)
          : { outcome: 'refused', fault: 'unfit', error: `the adapter ${settings.adapter} has no ${attempt.kind}` },
    };
  };
}
