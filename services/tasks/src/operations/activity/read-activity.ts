import type { Clock } from '@reelgate/platform/clock';
import {
  CHANNELS_MAX,
  MINUTE_MS,
  addChannelCounts,
  addCounts,
  floorToMinute,
  noChannelCounts,
  noCounts,
} from '../../domain/minute-counts.ts';
import type { ChannelCounts, MinuteCounts, MinuteRow } from '../../domain/minute-counts.ts';
import type { ChannelRegistry } from '../../channels/channel-registry.ts';
import type { BacklogStore, WaitingCount } from '../../store/backlog-store.ts';
import type { MinuteReader } from '../../store/operator-store.ts';

const MINUTES = 60;
/** With more, the oldest minutes are missing. */
const ROWS_MAX = 50_000;

export interface ActivityDeps {
  readonly operators: MinuteReader;
  readonly backlog: BacklogStore;
  readonly channels: ChannelRegistry;
  readonly clock: Clock;
}

interface MinuteSums {
  /** By minute, the oldest first. */
  readonly minutes: ReadonlyMap<number, MinuteCounts>;
  /** By channel and minute, the oldest first. */
  readonly channels: ReadonlyMap<string, ReadonlyMap<number, ChannelCounts>>;
}

export interface Activity extends MinuteSums {
  readonly now: number;
  readonly unfinished: number;
  /** Since when the oldest due poll waits. */
  readonly dueSince: number | undefined;
  readonly unsettled: WaitingCount;
  readonly attention: WaitingCount;
}

/** Reads the counts of the last hour, in all processes together, and the current backlog. */
export async function readActivity({ operators, backlog, channels, clock }: ActivityDeps): Promise<Activity> {
  const now = clock.now();
  const ids = channels.all().map(({ channel }) => channel.settings.id);
  const [rows, open, due, unsettled, attention] = await Promise.all([
    operators.minutesSince(floorToMinute(now) - (MINUTES - 1) * MINUTE_MS, ROWS_MAX),
    backlog.openTasks(),
    backlog.dueSince(ids, now),
    backlog.countUnsettled(),
    backlog.countAttention(),
  ]);
  return {
    now,
    ...sumMinutes(rows),
    unfinished: open.reduce((sum, { count }) => sum + count, 0),
    dueSince: due.size === 0 ? undefined : Math.min(...due.values()),
    unsettled,
    attention,
  };
}

function sumMinutes(rows: readonly MinuteRow[]): MinuteSums {
  const minutes = new Map<number, MinuteCounts>();
  const channels = new Map<string, Map<number, ChannelCounts>>();
  for (const { minute, channel, json } of rows.toReversed())
    if (channel === '') addCounts(findOrAdd(minutes, minute, noCounts), JSON.parse(json) as Partial<MinuteCounts>);
    else if (channels.has(channel) || channels.size < CHANNELS_MAX) {
      const ofChannel = findOrAdd(channels, channel, () => new Map<number, ChannelCounts>());
      addChannelCounts(findOrAdd(ofChannel, minute, noChannelCounts), JSON.parse(json) as Partial<ChannelCounts>);
    }
  return { minutes, channels };
}

function findOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
