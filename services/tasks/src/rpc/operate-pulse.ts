import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Implementation } from '@reelgate/platform/rpc/service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { addChannelCounts, answerPercentile, noChannelCounts } from '../domain/minute-counts.ts';
import type { ChannelCounts, MinuteCounts } from '../domain/minute-counts.ts';
import type { OperatorDeps } from '../operations/operators/operator-deps.ts';
import { readPulse } from '../operations/pulse/read-pulse.ts';

/** The view of the last hour, and of what waits now. */
export function operatePulse(operate: OperatorDeps): Pick<Implementation<typeof OperatorService>, 'getPulse'> {
  return {
    getPulse: async () => {
      const { now, minutes, channels, unfinished, dueSince, unsettled, attention } = await readPulse(operate);
      const age = (since: number | undefined): bigint => BigInt(since === undefined ? 0 : Math.max(0, now - since));
      return {
        now: timestampFromMs(now),
        minutes: [...minutes].map(toWireMinute),
        channels: [...channels].map(toWireHour),
        unfinished: BigInt(unfinished),
        pollLagMs: age(dueSince),
        unsettled: BigInt(unsettled.count),
        unsettledMs: age(unsettled.oldest),
        attention: BigInt(attention.count),
        ...(attention.oldest === undefined ? {} : { attentionSince: timestampFromMs(attention.oldest) }),
      };
    },
  };
}

function toWireMinute([minute, counts]: readonly [number, MinuteCounts]) {
  return {
    minute: timestampFromMs(minute),
    created: BigInt(counts.created),
    refused: BigInt(counts.refused),
    completed: BigInt(counts.completed),
    failed: BigInt(counts.failed),
    polls: BigInt(counts.polls),
    latePolls: BigInt(counts.latePolls),
    settled: BigInt(counts.settled),
    refusedByClient: BigInt(counts.refusedByClient),
    refusedByUpstream: BigInt(counts.refusedByUpstream),
    refusedByUs: BigInt(counts.refusedByUs),
    failedByClient: BigInt(counts.failedByClient),
    failedByUpstream: BigInt(counts.failedByUpstream),
    failedByUs: BigInt(counts.failedByUs),
  };
}

function toWireHour([channel, minutes]: readonly [string, ReadonlyMap<number, ChannelCounts>]) {
  const hour = noChannelCounts();
  for (const counts of minutes.values()) addChannelCounts(hour, counts);
  return {
    channel,
    minutes: [...minutes].map(([minute, counts]) => ({
      minute: timestampFromMs(minute),
      accepted: BigInt(counts.accepted),
      refused: BigInt(counts.refused),
      unknown: BigInt(counts.unknown),
      completed: BigInt(counts.completed),
      failed: BigInt(counts.failed),
      failedPolls: BigInt(counts.failedPolls),
    })),
    answerMsP50: BigInt(answerPercentile(hour.answers, 0.5)),
    answerMsP95: BigInt(answerPercentile(hour.answers, 0.95)),
    ...(hour.lastError === undefined
      ? {}
      : { lastError: hour.lastError.text, lastErrorAt: timestampFromMs(hour.lastError.at) }),
  };
}
