import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import { GetActivityResponseSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { ChannelHourSchema, ChannelMinuteSchema, MinuteCountsSchema } from '@reelgate/proto/tasks/v1/activity';
import type { ChannelHour, ChannelMinute, MinuteCounts as WireMinute } from '@reelgate/proto/tasks/v1/activity';
import { addChannelCounts, answerPercentile, noChannelCounts } from '../domain/minute-counts.ts';
import type { ChannelCounts, MinuteCounts } from '../domain/minute-counts.ts';
import type { OperatorDeps } from '../operations/operators/pause-channel.ts';
import { readFaults } from '../operations/activity/read-faults.ts';
import { readActivity } from '../operations/activity/read-activity.ts';
import { readLimit } from './request-fields.ts';

const FAILURES_LIMIT = 20;

/** The view of the last hour, and of the current backlog. */
export function operateActivity(operate: OperatorDeps) {
  return {
    getActivity: async () => {
      const { now, minutes, channels, unfinished, dueSince, unsettled, attention } = await readActivity(operate);
      const age = (since: number | undefined): bigint => BigInt(since === undefined ? 0 : Math.max(0, now - since));
      return toMessage(GetActivityResponseSchema, {
        now: timestampFromMs(now),
        minutes: [...minutes].map(toWireMinute),
        channels: [...channels].map(toWireHour),
        unfinished,
        pollLagMs: age(dueSince),
        unsettled: unsettled.count,
        unsettledMs: age(unsettled.oldest),
        attention: attention.count,
        attentionSince: toTimestamp(attention.oldest),
      });
    },
    getFaults: () => readFaults(operate.operators, operate.clock),
    listChannelFailures: async ({ channel, limit }) => ({
      failures: [...(await operate.operators.channelFailures(channel, readLimit(limit, FAILURES_LIMIT)))],
    }),
  } satisfies Partial<Implementation<typeof OperatorService>>;
}

function toWireMinute([minute, counts]: readonly [number, MinuteCounts]): WireMinute {
  return toMessage(MinuteCountsSchema, { ...counts, minute: timestampFromMs(minute) });
}

function toWireHour([channel, minutes]: readonly [string, ReadonlyMap<number, ChannelCounts>]): ChannelHour {
  const hour = noChannelCounts();
  for (const counts of minutes.values()) addChannelCounts(hour, counts);
  return toMessage(ChannelHourSchema, {
    channel,
    minutes: [...minutes].map(toWireChannelMinute),
    answerMsP50: answerPercentile(hour.answers, 0.5),
    answerMsP95: answerPercentile(hour.answers, 0.95),
    lastError: hour.lastError?.text,
    lastErrorAt: toTimestamp(hour.lastError?.at),
  });
}

function toWireChannelMinute([minute, counts]: readonly [number, ChannelCounts]): ChannelMinute {
  return toMessage(ChannelMinuteSchema, {
    minute: timestampFromMs(minute),
    accepted: counts.accepted,
    refused: counts.refused,
    unknown: counts.unknown,
    completed: counts.completed,
    failed: counts.failed,
    failedPolls: counts.failedPolls,
    answerMsP50: answerPercentile(counts.answers, 0.5),
    answerMsP95: answerPercentile(counts.answers, 0.95),
  });
}
