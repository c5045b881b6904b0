import type { ChannelRow } from './api/operator-channels.ts';

/** The most characters of a note. */
export const NOTE_MAX = 1000;

/** The models that no other channel in use serves: pausing this one stops them. */
export function modelsOfItAlone(channel: ChannelRow, all: readonly ChannelRow[]): readonly string[] {
  const others = all.filter(
    ({ id, isEnabled, pause, isRelay }) =>
      id !== channel.id && isEnabled && pause === undefined && isRelay === channel.isRelay,
  );
  return channel.models.filter((model) => !others.some(({ models }) => models.includes(model)));
}
