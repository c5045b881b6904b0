import type { ChannelRow } from './api/operator-channels.ts';

/** The most characters of a note. */
export const NOTE_MAX = 1000;

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
