import type { ChannelFactory } from '../channel.ts';

/** A channel whose upstream makes videos and does nothing else: an order of another kind is refused, and nothing is sent. */
export function generationOnly(factory: ChannelFactory): ChannelFactory {
  return (settings, clock) => {
    const channel = factory(settings, clock);
    return {
      ...channel,
      submit: async (attempt, signal) =>
        attempt.kind === 'generation'
          ? channel.submit(attempt, signal)
          : { outcome: 'refused', fault: 'unfit', error: `the adapter ${settings.adapter} has no ${attempt.kind}` },
    };
  };
}
