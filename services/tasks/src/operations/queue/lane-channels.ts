import type { ChannelRuntime } from '../../channels/channel-registry.ts';
import { nameLane, readLane } from '../../domain/lane.ts';
import type { Lane, QueueClass } from '../../domain/lane.ts';
import { isUpstreamFile, listMedia } from '../../domain/order.ts';
import type { CreateContext } from '../create-context.ts';
import type { Deps } from '../deps.ts';

/** Returns the name of a create's lane, for the channels that it may be submitted to now and after a reload. */
export function nameCreateLane(
  { channels }: Pick<Deps, 'channels'>,
  create: Pick<CreateContext, 'task' | 'source' | 'runtimes'>,
  ofClass: QueueClass,
): string {
  const { task, source, runtimes } = create;
  const { kind, model } = task.order;
  const isBound = source !== undefined || listMedia(task.order).some(isUpstreamFile);
  const accounts = isBound ? [...new Set(runtimes.map(readAccount))].sort() : undefined;
  const usable = new Set(runtimes.map(readId));
  const without = channels
    .listServing(kind, model)
    .filter((runtime) => accounts?.includes(readAccount(runtime)) !== false && !usable.has(readId(runtime)))
    .map(readId)
    .sort();
  return nameLane({ kind, model, accounts, without, class: ofClass });
}

/** The channels that can do the tasks of a lane, paused ones too, in the order in which they are tried. */
export function listLaneChannels({ channels }: Pick<Deps, 'channels'>, name: string): readonly ChannelRuntime[] {
  const lane = readLane(name);
  return channels.listServing(lane.kind, lane.model).filter((runtime) => serves(lane, runtime));
}

/** The name of the lane without a channel that cannot do one of its tasks. */
export function nameLaneWithout(name: string, channel: string): string {
  const lane = readLane(name);
  return nameLane({ ...lane, without: [...new Set([...lane.without, channel])].sort() });
}

/** The name of the lane with the lowest class. */
export function nameLastLane(name: string): string {
  return nameLane({ ...readLane(name), class: 'batch' });
}

function serves({ accounts, without }: Lane, runtime: ChannelRuntime): boolean {
  return accounts?.includes(readAccount(runtime)) !== false && !without.includes(readId(runtime));
}

function readId({ channel }: ChannelRuntime): string {
  return channel.settings.id;
}

function readAccount({ channel }: ChannelRuntime): string {
  return channel.settings.upstreamAccount;
}
