import type { Clock } from '@reelgate/platform/clock';
import {
  CHANNELS_MAX,
  MINUTE_MS,
  addChannelCounts,
  addCounts,
  answerPercentile,
  floorToMinute,
  noChannelCounts,
  noCounts,
  addFaults,
  noFaults,
} from '../../domain/minute-counts.ts';
import type { ChannelCounts, MinuteCounts, MinuteRow, FaultCounts, FaultRow } from '../../domain/minute-counts.ts';
import type { ChannelRegistry } from '../../channels/channel-registry.ts';
import type { BacklogStore } from '../../store/backlog-store.ts';
import type { MinuteReader, FaultReader } from '../../store/operator-store.ts';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import { GetActivityResponseSchema, GetFaultsResponseSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { GetActivityResponse, GetFaultsResponse } from '@reelgate/proto/tasks/v1/operator_service';
import {
  ChannelHourSchema,
  ChannelMinuteSchema,
  FaultHourSchema,
  FaultKind,
  FaultMinuteSchema,
  MinuteCountsSchema,
} from '@reelgate/proto/tasks/v1/activity';
import type { ChannelHour, FaultHour } from '@reelgate/proto/tasks/v1/activity';

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
  readonly ofChannels: ReadonlyMap<string, ReadonlyMap<number, ChannelCounts>>;
}

/** Reads the counts of the last hour, in all processes together, and the current backlog. */
export async function readActivity({
  operators,
  backlog,
  channels,
  clock,
}: ActivityDeps): Promise<GetActivityResponse> {
  const now = clock.now();
  const ids = channels.all().map(({ channel }) => channel.settings.id);
  const [rows, open, due, unsettled, attention] = await Promise.all([
    operators.minutesSince(floorToMinute(now) - (MINUTES - 1) * MINUTE_MS, ROWS_MAX),
    backlog.openTasks(),
    backlog.dueSince(ids, now),
    backlog.countUnsettled(),
    backlog.countAttention(),
  ]);
  const age = (since: number | undefined): bigint => BigInt(since === undefined ? 0 : Math.max(0, now - since));
  const { minutes, ofChannels } = sumMinutes(rows);
  return toMessage(GetActivityResponseSchema, {
    now: timestampFromMs(now),
    minutes: [...minutes].map(([minute, counts]) =>
      toMessage(MinuteCountsSchema, { ...counts, minute: timestampFromMs(minute) }),
    ),
    channels: [...ofChannels].map(describeChannelHour),
    unfinished: open.reduce((sum, { count }) => sum + count, 0),
    pollLagMs: due.size === 0 ? 0n : age(Math.min(...due.values())),
    unsettled: unsettled.count,
    unsettledMs: age(unsettled.oldest),
    attention: attention.count,
    attentionSince: toTimestamp(attention.oldest),
  });
}

function describeChannelHour([channel, minutes]: readonly [string, ReadonlyMap<number, ChannelCounts>]): ChannelHour {
  const hour = noChannelCounts();
  for (const counts of minutes.values()) addChannelCounts(hour, counts);
  return toMessage(ChannelHourSchema, {
    channel,
    minutes: [...minutes].map(([minute, { accepted, refused, unknown, completed, failed, failedPolls, answers }]) =>
      toMessage(ChannelMinuteSchema, {
        minute: timestampFromMs(minute),
        accepted,
        refused,
        unknown,
        completed,
        failed,
        failedPolls,
        answerMsP50: answerPercentile(answers, 0.5),
        answerMsP95: answerPercentile(answers, 0.95),
      }),
    ),
    answerMsP50: answerPercentile(hour.answers, 0.5),
    answerMsP95: answerPercentile(hour.answers, 0.95),
    lastError: hour.lastError?.text,
    lastErrorAt: toTimestamp(hour.lastError?.at),
  });
}

function sumMinutes(rows: readonly MinuteRow[]): MinuteSums {
  const minutes = new Map<number, MinuteCounts>();
  const ofChannels = new Map<string, Map<number, ChannelCounts>>();
  for (const { minute, channel, json } of rows.toReversed())
    if (channel === '') addCounts(findOrAdd(minutes, minute, noCounts), JSON.parse(json) as Partial<MinuteCounts>);
    else if (ofChannels.has(channel) || ofChannels.size < CHANNELS_MAX) {
      const ofChannel = findOrAdd(ofChannels, channel, () => new Map<number, ChannelCounts>());
      addChannelCounts(findOrAdd(ofChannel, minute, noChannelCounts), JSON.parse(json) as Partial<ChannelCounts>);
    }
  return { minutes, ofChannels };
}

function findOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}

/** The most models, and the most accounts, that are shown. */
const SUBJECTS_SHOWN = 50;

/** The faults of a model or an account. */
interface SubjectFaults {
  readonly subject: string;
  /** By minute, the oldest first. */
  readonly minutes: ReadonlyMap<number, FaultCounts>;
}

/** Reads the faults of the last hour in all processes together, by model and by account, the worst first. */
export async function readFaults(operators: FaultReader, clock: Clock): Promise<GetFaultsResponse> {
  const now = clock.now();
  const rows = await operators.faultsSince(floorToMinute(now) - (MINUTES - 1) * MINUTE_MS, ROWS_MAX);
  const [models, accounts] = [sumFaults(rows, 'model'), sumFaults(rows, 'account')];
  return toMessage(GetFaultsResponseSchema, {
    now: timestampFromMs(now),
    faults: [
      ...models.slice(0, SUBJECTS_SHOWN).map((faults) => describeHour(FaultKind.MODEL, faults)),
      ...accounts.slice(0, SUBJECTS_SHOWN).map((faults) => describeHour(FaultKind.ACCOUNT, faults)),
    ],
    moreModels: Math.max(0, models.length - SUBJECTS_SHOWN),
    moreAccounts: Math.max(0, accounts.length - SUBJECTS_SHOWN),
  });
}

function describeHour(kind: FaultKind, { subject, minutes }: SubjectFaults): FaultHour {
  return toMessage(FaultHourSchema, {
    kind,
    subject,
    minutes: [...minutes].map(([minute, { client, upstream, us }]) =>
      toMessage(FaultMinuteSchema, {
        minute: timestampFromMs(minute),
        byClient: client,
        byUpstream: upstream,
        byUs: us,
      }),
    ),
  });
}

function sumFaults(rows: readonly FaultRow[], wanted: FaultRow['kind']): readonly SubjectFaults[] {
  const subjects = new Map<string, Map<number, FaultCounts>>();
  for (const { minute, kind, subject, json } of rows.toReversed()) {
    if (kind !== wanted) continue;
    const minutes = subjects.get(subject) ?? new Map<number, FaultCounts>();
    subjects.set(subject, minutes);
    const counts = minutes.get(minute) ?? noFaults();
    minutes.set(minute, counts);
    addFaults(counts, JSON.parse(json) as Partial<FaultCounts>);
  }
  const found = [...subjects].map(([subject, minutes]) => ({ subject, minutes }));
  return found.toSorted((one, other) => weigh(other) - weigh(one));
}

/** Any fault of ours or of an upstream weighs more than those that clients caused. */
function weigh({ minutes }: SubjectFaults): number {
  const sum = noFaults();
  for (const counts of minutes.values()) addFaults(sum, counts);
  const faults = sum.upstream + sum.us;
  return faults + sum.client / (sum.client + 1);
}
