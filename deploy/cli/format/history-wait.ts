import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { GetHoldResponse } from '@reelgate/proto/billing/v1/billing_service';
import type { AttemptRecord, TaskRecord } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { asSeconds } from './history-step.ts';

interface Wait {
  readonly what: string;
  readonly since: Timestamp | undefined;
}

/** Says what the task waits for, and since when; returns no line for a task that is finished and settled. */
export function describeWaits(record: TaskRecord, money: GetHoldResponse | undefined, now: number): readonly string[] {
  const waits = [findPersonWait(record), isFinished(record) ? findMoneyWait(record, money) : findWorkWait(record)];
  return waits.flatMap((wait) =>
    wait === undefined ? [] : [`waits     ${describeWait(wait, now)}${describeNextPoll(record, now)}`],
  );
}

function isFinished({ task }: TaskRecord): boolean {
  return task?.state === TaskState.COMPLETED || task?.state === TaskState.FAILED;
}

function findWorkWait(record: TaskRecord): Wait {
  const { admission, attempts } = record;
  const last = attempts.at(-1);
  if (admission === 'submitting') return findAnswerWait(record, last);
  return admission === 'unknown'
    ? { what: 'for the upstream to list the work whose answer was lost', since: last?.endedAt ?? last?.startedAt }
    : findUpstreamWait(record);
}

function findAnswerWait({ task }: TaskRecord, last: AttemptRecord | undefined): Wait {
  return last === undefined
    ? { what: 'for its hold and its references', since: task?.createdAt }
    : { what: `for the answer of ${last.channel} to attempt ${last.number}`, since: last.startedAt };
}

function findUpstreamWait({ task, attempts, events }: TaskRecord): Wait {
  const accepted = attempts.find(({ outcome }) => outcome === 'accepted')?.endedAt;
  if (task?.state !== TaskState.IN_PROGRESS) return { what: "in the upstream's queue", since: accepted };
  const working = events.find(({ type, detailJson }) => type === 'reported' && detailJson.includes('"in_progress"'));
  return { what: 'for the upstream, which works', since: working?.at ?? accepted };
}

function findMoneyWait({ task, admission }: TaskRecord, money: GetHoldResponse | undefined): Wait | undefined {
  if (admission === 'refused' || money?.hold === undefined || money.settlement !== undefined) return undefined;
  return { what: 'for its settlement', since: task?.completedAt };
}

/** The last entry of the queue of attention decides. */
function findPersonWait({ events }: TaskRecord): Wait | undefined {
  const last = events.findLast(({ type }) => type === 'attention' || type === 'attention_resolved');
  return last?.type === 'attention' ? { what: 'for a person: reelgate attention list', since: last.at } : undefined;
}

function describeWait({ what, since }: Wait, now: number): string {
  if (since === undefined) return what;
  const at = timestampMs(since);
  return `${what}, since ${new Date(at).toISOString().slice(11, 19)} (${asSeconds(Math.max(0, now - at))})`;
}

function describeNextPoll({ nextPollAt, pollErrors }: TaskRecord, now: number): string {
  if (nextPollAt === undefined) return '';
  const ms = timestampMs(nextPollAt) - now;
  const when = ms >= 0 ? `next poll in ${asSeconds(ms)}` : 'a poll is due';
  return `; ${when}${pollErrors > 0 ? `, ${pollErrors} polls failed in a row` : ''}`;
}
