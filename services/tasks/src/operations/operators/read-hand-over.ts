import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '@reelgate/platform/clock';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import { GetHandOverResponseSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { GetHandOverResponse } from '@reelgate/proto/tasks/v1/operator_service';
import type { HandOverStore } from '../../store/operator-store.ts';

const DAY_MS = 24 * 3_600_000;
/** An operator who has never read, or not for long, reads the last week. */
const LONGEST_MS = 7 * DAY_MS;
const EVENTS_MAX = 200;
const RAISED_MAX = 100;

interface HandOverDeps {
  readonly operators: HandOverStore;
  readonly clock: Clock;
}

/** Reads the events and the questions since an operator read last. */
export async function readHandOver({ operators, clock }: HandOverDeps, actor: string): Promise<GetHandOverResponse> {
  const now = clock.now();
  const readUntil = await operators.findMark(actor);
  const since = Math.max(readUntil ?? 0, now - LONGEST_MS);
  const [events, raised] = await Promise.all([
    operators.listServiceEvents(since, EVENTS_MAX + 1),
    operators.raisedSince(since, RAISED_MAX + 1),
  ]);
  return toMessage(GetHandOverResponseSchema, {
    now: timestampFromMs(now),
    since: timestampFromMs(since),
    readUntil: toTimestamp(readUntil),
    events: events.slice(0, EVENTS_MAX),
    raised: raised.slice(0, RAISED_MAX),
    hasMore: events.length > EVENTS_MAX || raised.length > RAISED_MAX,
  });
}

/** Records how far an operator has read, which is never later than now. Returns the mark. */
export function markRead({ operators, clock }: HandOverDeps, actor: string, until: number): Promise<number> {
  return operators.putMark(actor, Math.min(until, clock.now()));
}
