import type { Clock } from '@reelgate/platform/clock';
import {
  MINUTE_MS,
  addChannelCounts,
  addCounts,
  minuteOf,
  noChannelCounts,
  noCounts,
} from '../../domain/minute-counts.ts';
import type { ChannelCounts, MinuteCounts, MinuteRow } from '../../domain/minute-counts.ts';
import type { ChannelRegistry } from '../../channels/channel-registry.ts';
import type { BacklogStore, Waiting } from '../../store/backlog-store.ts';
import type { MinuteStore } from '../../store/operator-store.ts';
import { CHANNELS_MAX } from './minute-counter.ts';

const MINUTES = 60;
/** With more, the oldest minutes are missing. */
const ROWS_MAX = 50_000;

export interface PulseDeps {
  readonly operators: Pick<MinuteStore, 'minutesSince'>;
  readonly backlog: BacklogStore;
  readonly channels: Pick<ChannelRegistry, 'all'>;
  readonly clock: Pick<Clock, 'now'>;
}

export interface Pulse {
  readonly now: number;
  /** By minute, the oldest first. */
  readonly minutes: ReadonlyMap<number, MinuteCounts>;
  /** By channel and minute, the oldest first. */
  readonly channels: ReadonlyMap<string, ReadonlyMap<number, ChannelCounts>>;
  readonly unfinished: number;
  /** Since when the oldest due poll waits. */
  readonly dueSince: number | undefined;
  readonly unsettled: Waiting;
  readonly attention: Waiting;
}

/** Reads what happened in the last hour, in all processes together, and what waits now. */
export async function readPulse({ operators, backlog, channels, clock }: PulseDeps): Promise<Pulse> {
  const now = clock.now();
  const ids = channels.all().map(({ channel }) => channel.settings.id);
  const [rows, open, due, unsettled, attention] = await Promise.all([
    operators.minutesSince(minuteOf(now) - (MINUTES - 1) * MINUTE_MS, ROWS_MAX),
    backlog.openTasks(),
    backlog.dueSince(ids, now),
    backlog.unsettled(),
    backlog.attention(),
  ]);
  return {
    now,
    ...summed(rows),
    unfinished: open.reduce((sum, { count }) => sum + count, 0),
    dueSince: due.size === 0 ? undefined : Math.min(...due.values()),
    unsettled,
    attention,
  };
}

function summed(rows: readonly MinuteRow[]): Pick<Pulse, 'minutes' | 'channels'> {
  const minutes = new Map<number, MinuteCounts>();
  const channels = new Map<string, Map<number, ChannelCounts>>();
  for (const { minute, channel, json } of rows.toReversed())
    if (channel === '') addCounts(entryOf(minutes, minute, noCounts), JSON.parse(json) as Partial<MinuteCounts>);
    else if (channels.has(channel) || channels.size < CHANNELS_MAX) {
      const ofChannel = entryOf(channels, channel, () => new Map<number, ChannelCounts>());
      addChannelCounts(entryOf(ofChannel, minute, noChannelCounts), JSON.parse(json) as Partial<ChannelCounts>);
    }
  return { minutes, channels };
}

function entryOf<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
