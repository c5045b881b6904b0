import type { PauseReader } from '../../store/operator-store.ts';

/** The paused channels, as this process last read them. */
export interface PausedChannels {
  has(channelId: string): boolean;
  /** Reads them. If they cannot be read, those that were read last stay paused. */
  read(): Promise<void>;
}

export function openPausedChannels(store: PauseReader): PausedChannels {
  let paused: ReadonlySet<string> = new Set();
  let begun = 0;
  let latest = 0;
  return {
    has: (channelId) => paused.has(channelId),
    read: async () => {
      begun += 1;
      const number = begun;
      const pauses = await store.pauses();
      // A read that began later may have answered first.
      if (number < latest) return;
      latest = number;
      paused = new Set(pauses.map(({ channel }) => channel));
    },
  };
}
