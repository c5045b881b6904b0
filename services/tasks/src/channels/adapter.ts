import { ENDPOINT_OF } from './channel.ts';
import type { ChannelFactory, Endpoint } from './channel.ts';
import { readExtraFields } from './extra-fields.ts';
import type { ExtraFields } from './extra-fields.ts';
import { redactFailure } from './redact-failure.ts';

/** One upstream API, and what the configuration and the operations need to know of it. */
export interface Adapter {
  /** The endpoints that the upstream serves. A channel may be configured for no others. */
  readonly endpoints: readonly Endpoint[];
  /** The fields of a create that this service does not know and the upstream does. Default: none. */
  readonly extraFields?: ExtraFields;
  /** True if the upstream calls a URL of this service when its work changes. Default: false. */
  readonly takesCallbacks?: boolean;
  readonly openChannel: ChannelFactory;
}

/**
 * Opens channels of an adapter. What must hold for every adapter is added here, so no adapter can leave it out:
 * - An order of a kind that the upstream does not know is refused without asking the upstream.
 * - Of the client's own JSON only the declared extra fields are passed on, as checked values. The JSON itself is removed
 *   from the attempt.
 * - The failures that a poll reports can be shown to a client.
 */
export function channelFactory({ endpoints, extraFields = {}, openChannel }: Adapter): ChannelFactory {
  return (settings, clock) => {
    const channel = openChannel(settings, clock);
    return {
      ...channel,
      submit: async (attempt, signal) => {
        if (!endpoints.includes(ENDPOINT_OF[attempt.kind])) {
          const error = `the adapter ${settings.adapter} has no ${attempt.kind}`;
          return { outcome: 'refused', fault: 'unfit', error };
        }
        const { extraJson, ...order } = attempt.order;
        return channel.submit({ ...attempt, order, extra: readExtraFields(extraJson, extraFields) }, signal);
      },
      poll: async (upstreamId, signal) => redactFailure(await channel.poll(upstreamId, signal), upstreamId),
    };
  };
}

/** The factories of all adapters, by the same names. */
export function channelFactories(
  adapters: Readonly<Record<string, Adapter>>,
): Readonly<Record<string, ChannelFactory>> {
  return Object.fromEntries(Object.entries(adapters).map(([name, adapter]) => [name, channelFactory(adapter)]));
}
