import type { RpcAnswer } from '../../../api/calls.ts';
import type { Topic } from '../../../api/stream.ts';
import { toCall, useCalls } from '../../../state/calls.ts';
import { useView } from '../../../state/use-view.ts';
import type { View } from '../../../state/use-view.ts';
import type { ChannelHour } from './channel-hour.ts';

type ListedChannels = RpcAnswer<'tasks.OperatorService/ListChannels'>;
export type Channel = ListedChannels['channels'][number];

/** A channel with its last hour. */
export interface ChannelRow {
  readonly channel: Channel;
  /** True if the channel serves synchronous calls. Its figures then count only the calls of this gateway. */
  readonly isRelay: boolean;
  /** Undefined if the channel did no work in the last hour. */
  readonly hour?: ChannelHour | undefined;
}

/** The channels of both kinds. The gateway knows the channels of synchronous calls without the tasks service. */
export interface ChannelViews {
  readonly ofTasks: View<readonly ChannelRow[]>;
  readonly ofRelay: View<readonly ChannelRow[]>;
  /** All that are known now. */
  readonly rows: readonly ChannelRow[];
  readonly refresh: () => void;
}

/** Reads the channels of tasks and of synchronous calls. */
export function useChannels(topics: readonly Topic[]): ChannelViews {
  const listed = useCalls({ listed: toCall('tasks.OperatorService/ListChannels', {}) }, topics, {
    activity: toCall('tasks.OperatorService/GetActivity', {}),
  });
  const relayed = useView<ListedChannels>('/relay_channels', topics);
  const hours = new Map(listed.data?.activity?.channels.map((hour) => [hour.channel, hour]));
  const ofTasks = listed.data?.listed.channels.map((channel) => ({
    ...{ channel, isRelay: false, hour: hours.get(channel.id) },
  }));
  const ofRelay = relayed.data?.channels.map((channel) => ({ channel, isRelay: true }));
  return {
    ofTasks: { ...listed, data: ofTasks },
    ofRelay: { ...relayed, data: ofRelay },
    rows: [...(ofTasks ?? []), ...(ofRelay ?? [])],
    refresh: () => {
      listed.refresh();
      relayed.refresh();
    },
  };
}

/** The models that no other channel in use serves: pausing this one stops them. */
export function modelsOfItAlone({ channel, isRelay }: ChannelRow, all: readonly ChannelRow[]): readonly string[] {
  const others = all.filter(
    (other) =>
      other.channel.id !== channel.id &&
      other.channel.enabled &&
      other.channel.pause === undefined &&
      other.isRelay === isRelay,
  );
  return channel.models.filter((model) => !others.some((other) => other.channel.models.includes(model)));
}
