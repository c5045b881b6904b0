import type { Foundation } from '@reelgate/platform/foundation';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { openLimits } from '@reelgate/platform/limits/open-limits';
import type { TasksConfig } from '../config.ts';
import { watchCircuits } from '../tasks-metrics.ts';
import { channelFactories } from './adapter.ts';
import { ADAPTERS } from './adapters/index.ts';
import { openChannelRegistry } from './channel-registry.ts';
import type { ChannelRegistry, ChannelRegistryOptions } from './channel-registry.ts';

/** Opens the channels of the configuration with the limits that the replicas of this service share. */
export async function openChannels(
  config: TasksConfig,
  foundation: Foundation,
  lifecycle: Lifecycle,
  options: Required<Pick<ChannelRegistryOptions, 'chance' | 'replicas' | 'isPaused'>>,
): Promise<ChannelRegistry> {
  const { limits } = await openLimits(foundation, lifecycle, {
    service: 'tasks',
    url: config.redis,
    deadlineMs: config.redisDeadlineMs,
    replicas: options.replicas,
  });
  const channels = openChannelRegistry(config.channels, {
    ...options,
    limits,
    clock: foundation.clock,
    adapters: channelFactories(ADAPTERS),
  });
  lifecycle.add('channels', () => channels.close());
  watchCircuits(foundation.metrics, channels);
  return channels;
}
