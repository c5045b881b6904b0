import type { Problem } from '@reelgate/platform/problem';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { ChannelChange, Pause, PauseReader, OperatorStore } from '../../store/operator-store.ts';
import type { SharedWaits } from './shared-waits.ts';
import type { ChannelRegistry } from '../../channels/channel-registry.ts';
import type { BacklogStore } from '../../store/backlog-store.ts';
import { refuse } from '../../refusals.ts';

/** The dependencies of the operations that only operators call. */
export interface OperatorDeps {
  readonly operators: OperatorStore;
  readonly backlog: BacklogStore;
  readonly channels: ChannelRegistry;
  readonly paused: PausedChannels;
  readonly waits: SharedWaits;
  /** Every channel of the configuration, including the channels of other services. */
  readonly channelIds: () => readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  /** Announces to all processes that a channel was paused or resumed. */
  readonly announcePause: (channelId: string) => void;
}

/** The paused channels, as this process last read them. */
export interface PausedChannels {
  /** A pause with an end is over at its end, also while the pauses cannot be read. */
  has(channelId: string): boolean;
  /** Reports whether a pause that was read is over. */
  isAnyOver(): boolean;
  /** Reads them. If they cannot be read, those that were read last stay paused. */
  read(): Promise<void>;
}

/** `changed` is called after a read that found other pauses than the last one. */
export function newPausedChannels(store: PauseReader, clock: Clock, changed: () => void): PausedChannels {
  let paused: ReadonlyMap<string, Pause> = new Map();
  let begun = 0;
  let latest = 0;
  return {
    has: (channelId) => {
      const pause = paused.get(channelId);
      return pause !== undefined && !isOver(pause, clock.now());
    },
    isAnyOver: () => [...paused.values()].some((pause) => isOver(pause, clock.now())),
    read: async () => {
      begun += 1;
      const number = begun;
      const pauses = await store.pauses();
      // A read that began later may have answered first.
      if (number < latest) return;
      latest = number;
      const before = new Set(paused.keys());
      paused = new Map(pauses.map((pause) => [pause.channel, pause]));
      if (before.symmetricDifference(new Set(paused.keys())).size > 0) changed();
    },
  };
}

function isOver({ endsAt }: Pause, now: number): boolean {
  return endsAt !== undefined && now >= endsAt;
}

/** The channels that are paused now. */
export async function listPauses({ operators, clock }: OperatorDeps): Promise<readonly Pause[]> {
  const now = clock.now();
  return (await operators.pauses()).filter((pause) => !isOver(pause, now));
}

export type ResumeRequest = Omit<ChannelChange, 'at'>;

export interface PauseRequest extends ResumeRequest {
  /** Undefined if the pause has no end. */
  readonly durationMs?: number | undefined;
}

export const channelNotFound = (): Problem => refuse('channel_not_found');

/**
 * Keeps new work from a channel, in every process, until it is resumed. Returns its pause, which may be an earlier one.
 */
export async function pauseChannel(deps: OperatorDeps, { durationMs, ...request }: PauseRequest): Promise<Pause> {
  if (!deps.channelIds().includes(request.channel)) {
    const known = (await deps.operators.pauses()).find(({ channel }) => channel === request.channel);
    if (known === undefined) throw channelNotFound();
    return known;
  }
  const at = deps.clock.now();
  const endsAt = durationMs === undefined ? undefined : at + durationMs;
  const pause = await deps.operators.pause({ ...request, at, endsAt });
  deps.log.warn({ channel: request.channel, actor: pause.actor, endsAt: pause.endsAt }, 'a channel is paused');
  await announceAndRead(deps, request.channel);
  return pause;
}

/** Resumes a channel, also one that has left the configuration. Returns whether it was paused. */
export async function resumeChannel(deps: OperatorDeps, request: ResumeRequest): Promise<boolean> {
  const wasPaused = await deps.operators.resume({ ...request, at: deps.clock.now() });
  if (!wasPaused && !deps.channelIds().includes(request.channel)) throw channelNotFound();
  if (wasPaused) deps.log.warn({ channel: request.channel, actor: request.actor }, 'a channel is resumed');
  await announceAndRead(deps, request.channel);
  return wasPaused;
}

/**
 * Ends the pauses that are over, and reads the pauses that are not. They are read first, because a read-only store
 * still has the pauses of other processes.
 */
export async function renewPauses({ operators, paused, clock, log, announcePause }: OperatorDeps): Promise<void> {
  await paused.read();
  if (!paused.isAnyOver()) return;
  const returned = await operators.endPauses(clock.now());
  for (const channel of returned) {
    log.warn({ channel }, 'the pause of a channel is over');
    announcePause(channel);
  }
  await paused.read();
}

/** The change is written, so a read that fails does not undo it: the next pass reads it. */
async function announceAndRead({ paused, log, announcePause }: OperatorDeps, channel: string): Promise<void> {
  announcePause(channel);
  await paused
    .read()
    .catch((error: unknown) => log.warn({ channel, err: error }, 'the pauses of channels could not be read'));
}
