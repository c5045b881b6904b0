import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { findWord } from '@reelgate/platform/rpc/enum-words';
import type { GetHoldResponse } from '@reelgate/proto/billing/v1/billing_service';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import type { AttemptRecord, TaskRecord } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskKind, TaskKindSchema } from '@reelgate/proto/tasks/v1/order';
import type { Order } from '@reelgate/proto/tasks/v1/order';
import { TaskState, TaskStateSchema } from '@reelgate/proto/tasks/v1/task';
import { formatNanos, asBytes } from './quantities.ts';
import { eventSteps, asSeconds, shorten } from './history-events.ts';
import type { EndFacts, Step } from './history-events.ts';

/** Longer gaps without an entry get a line. */
const GAP_MS = 10_000;
const NANOS_PER_MICRO = 1000n;

/** Formats the life of a task, one line for each step with its time, and the reason why an unfinished task waits. */
export function formatHistory(record: TaskRecord, money: GetHoldResponse | undefined, now: number): string {
  const steps = [
    ...toCreateSteps(record, money),
    ...toAttemptSteps(record),
    ...eventSteps(record, readEndFacts(record)),
    ...toEndSteps(money),
  ]
    // The sort is stable: steps of the same time stay in this order.
    .sort((one, other) => one.at - other.at);
  const lines = steps.flatMap((step, index) => [
    ...gapBefore(step, steps[index - 1]),
    `${clockTime(step.at)}  ${step.text}`,
  ]);
  return [formatHead(record), '', ...lines, ...describeCost(record, money), ...describeWaits(record, money, now)].join(
    '\n',
  );
}

function formatHead({ task, tokenId, requestId, traceId }: TaskRecord): string {
  if (task === undefined) return '';
  const { id, order, state, accountId, createdAt } = task;
  const what = [
    id,
    findWord(TaskKindSchema, order?.kind ?? TaskKind.UNSPECIFIED),
    order?.model,
    findWord(TaskStateSchema, state),
  ];
  const whose = [
    `account ${accountId}`,
    `token ${tokenId}`,
    requestId === '' ? undefined : `request ${requestId}`,
    traceId === '' ? undefined : `trace ${traceId}`,
    createdAt === undefined ? undefined : `created ${formatDateTime(createdAt)} UTC`,
  ];
  return [what, whose].map((words) => words.filter((word) => word !== undefined).join('  ')).join('\n');
}

function toCreateSteps({ task, attempts }: TaskRecord, money: GetHoldResponse | undefined): readonly Step[] {
  const created = task?.createdAt === undefined ? [] : [{ at: timestampMs(task.createdAt), text: 'created' }];
  const { hold } = money ?? {};
  if (hold?.placedAt === undefined) return created;
  const heldAt = timestampMs(hold.placedAt);
  const held = { at: heldAt, text: `held ${amount(hold.amountNanos, hold.currency)}` };
  const references = countReferences(task?.order);
  const firstAt = attempts[0]?.startedAt;
  if (references === 0 || firstAt === undefined) return [...created, held];
  const at = timestampMs(firstAt);
  const tookMs = Math.max(0, at - heldAt);
  const text = `staged ${references} ${references === 1 ? 'reference' : 'references'} in ${asSeconds(tookMs)}`;
  return [...created, held, { at, text, tookMs }];
}

function countReferences(order: Order | undefined): number {
  return order?.content.filter(({ item }) => item.case === 'media').length ?? 0;
}

function toAttemptSteps({ attempts }: TaskRecord): readonly Step[] {
  return attempts.flatMap((attempt) => {
    const { number, channel, startedAt, endedAt } = attempt;
    if (startedAt === undefined) return [];
    const at = timestampMs(endedAt ?? startedAt);
    const name = `attempt ${number} on ${channel}`;
    if (endedAt === undefined) return [{ at, text: `${name} began` }];
    const tookMs = Math.max(0, at - timestampMs(startedAt));
    return [
      { at, text: `${name} ${describeOutcome(attempt)} after ${asSeconds(tookMs)}${formatReason(attempt)}`, tookMs },
    ];
  });
}

const OUTCOMES: Readonly<Record<string, string>> = {
  accepted: 'was accepted',
  refused: 'was refused',
  unknown: 'got no answer',
};

function describeOutcome({ outcome }: AttemptRecord): string {
  return OUTCOMES[outcome] ?? outcome;
}

function formatReason({ error }: AttemptRecord): string {
  return error === '' ? '' : ` (${shorten(error)})`;
}

/** Reads the facts that the last step of a task needs. */
function readEndFacts({ task, attempts }: TaskRecord): EndFacts {
  const accepted = attempts.find(({ outcome }) => outcome === 'accepted')?.endedAt;
  return {
    acceptedAt: accepted === undefined ? undefined : timestampMs(accepted),
    result: task?.result === undefined || task.result.object === '' ? undefined : asBytes(Number(task.result.bytes)),
  };
}

function toEndSteps(money: GetHoldResponse | undefined): readonly Step[] {
  const { hold, settlement, deferredAmountNanos } = money ?? {};
  if (hold === undefined || settlement === undefined) return [];
  const at = settlement.settledAt === undefined ? 0 : timestampMs(settlement.settledAt);
  const back = hold.amountNanos - settlement.amountNanos;
  if (settlement.basis === Basis.RELEASED)
    return [{ at, text: `released the hold of ${amount(hold.amountNanos, hold.currency)}` }];
  if (settlement.basis === Basis.DEFERRED) {
    const wanted =
      deferredAmountNanos === undefined ? 'more than an amount' : amount(deferredAmountNanos, hold.currency);
    return [{ at, text: `not settled: the usage costs ${wanted}, far above the hold` }];
  }
  const returned = back > 0n ? `, ${amount(back, hold.currency)} returned` : '';
  const added = back < 0n ? `, ${amount(-back, hold.currency)} above the hold` : '';
  return [{ at, text: `settled ${amount(settlement.amountNanos, hold.currency)}${returned}${added}` }];
}

function gapBefore({ at, tookMs = 0 }: Step, before: Step | undefined): readonly string[] {
  const unexplained = before === undefined ? 0 : at - before.at - tookMs;
  return unexplained < GAP_MS ? [] : [`          … ${asSeconds(unexplained)} without an entry`];
}

function amount(nanos: bigint, currency: string): string {
  return currency === 'USD' ? `$${formatNanos(nanos)}` : `${formatNanos(nanos)} ${currency}`;
}

function clockTime(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19);
}

function formatDateTime(time: Timestamp): string {
  return new Date(timestampMs(time)).toISOString().slice(0, 19).replace('T', ' ');
}

/** Describes the cost of the work at its upstream, reported or else estimated; no line if neither is known. */
function describeCost(
  { upstreamCostMicroUsd: reported }: TaskRecord,
  money: GetHoldResponse | undefined,
): readonly string[] {
  const line = (cost: string, source: string): string => `cost      ${cost} at the upstream, ${source}`;
  if (reported !== undefined) return [line(amount(reported * NANOS_PER_MICRO, 'USD'), 'reported by the upstream')];
  const { hold, upstreamCost } = money ?? {};
  if (hold === undefined || upstreamCost?.estimatedNanos === undefined) return [];
  return [line(amount(upstreamCost.estimatedNanos, hold.currency), 'estimated by the upstream price')];
}

interface Wait {
  readonly what: string;
  readonly since: Timestamp | undefined;
}

/** Describes the reason why the task waits, and since when. Returns no line for a task that is finished and settled. */
function describeWaits(record: TaskRecord, money: GetHoldResponse | undefined, now: number): readonly string[] {
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
  if (admission === 'waiting') return findTurnWait(record, last);
  return admission === 'unknown'
    ? { what: 'for the upstream to list the work with the lost answer', since: last?.endedAt ?? last?.startedAt }
    : findUpstreamWait(record);
}

function findAnswerWait({ task }: TaskRecord, last: AttemptRecord | undefined): Wait {
  return last === undefined
    ? { what: 'for its hold and its references', since: task?.createdAt }
    : { what: `for the answer of ${last.channel} to attempt ${last.number}`, since: last.startedAt };
}

/** Between its turns a task has no open attempt. */
function findTurnWait(record: TaskRecord, last: AttemptRecord | undefined): Wait {
  if (last?.outcome === 'started') return findAnswerWait(record, last);
  return {
    what: 'for its turn on a channel',
    since: record.events.findLast(({ type }) => type === 'waits')?.at ?? record.task?.createdAt,
  };
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
