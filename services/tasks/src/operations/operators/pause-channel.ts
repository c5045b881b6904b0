import { Problem } from '@reelgate/platform/problem';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { Pause, PauseReader, OperatorStore } from '../../store/operator-store.ts';
import type { ChannelRegistry } from '../../channels/channel-registry.ts';
import type { BacklogStore } from '../../store/backlog-store.ts';

/** The dependencies of what only operators do. */
export interface OperatorDeps {
  readonly operators: OperatorStore;
  readonly backlog: BacklogStore;
  readonly channels: ChannelRegistry;
  readonly paused: PausedChannels;
  /** Every channel of the configuration, those of other services too. */
  readonly channelIds: () => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  /** Tells all processes that a channel was paused or resumed. */
  readonly announcePause: (channelId: string) => void;
}

/** The paused channels, as this process last read them. */
export interface PausedChannels {
  has(channelId: string): boolean;
  /** Reads them. If they cannot be read, those that were read last stay paused. */
  read(): Promise<void>;
}

/** `changed` is called after a read that found other pauses than the last one. */
export function openPausedChannels(store: PauseReader, changed: () => void): PausedChannels {
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
      const before = paused;
      paused = new Set(pauses.map(({ channel }) => channel));
      if (before.symmetricDifference(paused).size > 0) changed();
    },
  };
}

export interface PauseRequest {
  readonly channel: string;
  readonly actor: string;
  readonly reason: string;
}

export const channelNotFound = (): Problem =>
  new Problem({
    kind: 'not_found',
    reason: 'channel_not_found',
    message: 'no such channel; `channel list` shows every channel',
  });

/**
 * Keeps new work from a channel, in every process, until it is resumed. Returns its pause, which may be an earlier one.
 */
export async function pauseChannel(deps: OperatorDeps, request: PauseRequest): Promise<Pause> {
  if (!deps.channelIds().includes(request.channel)) {
    const known = (await deps.operators.pauses()).find(({ channel }) => channel === request.channel);
    if (known === undefined) throw channelNotFound();
    return known;
  }
  const pause = await deps.operators.pause({ ...request, at: deps.clock.now() });
  deps.log.warn({ channel: request.channel, actor: pause.actor }, 'a channel is paused');
  await announceAndRead(deps, request.channel);
  return pause;
}

/** Gives a channel new work again, also one that has left the configuration. Returns whether it was paused. */
export async function resumeChannel(deps: OperatorDeps, request: PauseRequest): Promise<boolean> {
  const wasPaused = await deps.operators.resume({ ...request, at: deps.clock.now() });
  if (!wasPaused && !deps.channelIds().includes(request.channel)) throw channelNotFound();
  if (wasPaused) deps.log.warn({ channel: request.channel, actor: request.actor }, 'a channel is resumed');
  await announceAndRead(deps, request.channel);
  return wasPaused;
}

/** The change is written, so a read that fails does not undo it: the next pass reads it. */
async function announceAndRead({ paused, log, announcePause }: OperatorDeps, channel: string): Promise<void> {
  announcePause(channel);
  await paused.read().catch((error: unknown) => {
    log.warn({ channel, err: error }, 'the pauses of channels could not be read');
  });
}
