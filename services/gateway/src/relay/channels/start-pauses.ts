import type { Foundation } from '@reelgate/platform/foundation';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { channelPausesReader } from '../../clients/channel-pauses-client.ts';
import type { GatewayClients } from '../../clients/gateway-clients.ts';
import { onChannelPausesChanged } from '../../events/on-channel-pauses-changed.ts';
import { followChannelPauses } from './channel-pauses.ts';
import type { ChannelPauses } from './channel-pauses.ts';

/** Reads the pauses before the first call, if the tasks service can be reached. */
export async function startPauses(
  { bus, clock, log }: Foundation,
  clients: Pick<GatewayClients, 'pauses'>,
  lifecycle: Lifecycle,
): Promise<ChannelPauses> {
  const pauses = followChannelPauses({ read: channelPausesReader(clients.pauses), clock, log });
  lifecycle.add('channel pauses', () => pauses.stop());
  const events = await onChannelPausesChanged(bus, pauses);
  lifecycle.add('events of channel pauses', () => events.stop());
  // the worker says why it failed
  await pauses.refresh().catch(() => undefined);
  return pauses;
}
