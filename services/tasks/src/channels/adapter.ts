import type { ChannelFactory, Endpoint } from './channel.ts';
import type { ExtraFields } from './extra-fields.ts';
import { onlyEndpoints } from './wrappers/only-endpoints.ts';
import { passExtraFields } from './wrappers/pass-extra-fields.ts';
import { redactFailures } from './wrappers/redact-failures.ts';

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

/** Opens channels of an adapter. What must hold for every adapter is added here, so no adapter can leave it out. */
export function channelFactory({ endpoints, extraFields = {}, openChannel }: Adapter): ChannelFactory {
  return passExtraFields(extraFields, redactFailures(onlyEndpoints(endpoints, openChannel)));
}

/** The factories of all adapters, by the same names. */
export function channelFactories(
  adapters: Readonly<Record<string, Adapter>>,
): Readonly<Record<string, ChannelFactory>> {
  return Object.fromEntries(Object.entries(adapters).map(([name, adapter]) => [name, channelFactory(adapter)]));
}
