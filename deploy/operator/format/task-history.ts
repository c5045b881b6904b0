import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import type { GetHoldResponse } from '@reelgate/proto/billing/v1/billing_service';
import type { AttemptRecord, TaskRecord } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { Order } from '@reelgate/proto/tasks/v1/order';
import { formatNanos } from './amount.ts';
import { asBytes } from './bytes.ts';
import { eventSteps } from './history-events.ts';
import type { EndFacts } from './history-events.ts';
import { asSeconds, shortened } from './history-step.ts';
import type { Step } from './history-step.ts';
import { waitOf } from './history-wait.ts';
import { KINDS, stateName } from './task-record.ts';

/** A longer time that no entry explains is named. */
const GAP_MS = 10_000;

/** The life of a task, one line for each step with its time, and what an unfinished task waits for. */
export function historyOf(record: TaskRecord, money: GetHoldResponse | undefined, now: number): string {
  const steps = [
    ...ofCreate(record, money),
    ...ofAttempts(record),
    ...eventSteps(record, factsOf(record)),
    ...ofEnd(money),
  ]
    // The sort is stable: steps of the same time stay in this order.
    .sort((one, other) => one.at - other.at);
  const lines = steps.flatMap((step, index) => [
    ...gapBefore(step, steps[index - 1]),
    `${clockTime(step.at)}  ${step.text}`,
  ]);
  return [headOf(record), '', ...lines, ...waitOf(record, money, now)].join('\n');
}

function headOf({ task, tokenId, requestId, traceId }: TaskRecord): string {
  if (task === undefined) return '';
  const { id, order, state, accountId, createdAt } = task;
  const what = [id, KINDS[order?.kind ?? TaskKind.UNSPECIFIED], order?.model, stateName(state)];
  const whose = [
    `account ${accountId}`,
    `token ${tokenId}`,
    requestId === '' ? undefined : `request ${requestId}`,
    traceId === '' ? undefined : `trace ${traceId}`,
    createdAt === undefined ? undefined : `created ${dayOf(createdAt)} UTC`,
  ];
  return [what, whose].map((words) => words.filter((word) => word !== undefined).join('  ')).join('\n');
}

function ofCreate({ task, attempts }: TaskRecord, money: GetHoldResponse | undefined): readonly Step[] {
  const created = task?.createdAt === undefined ? [] : [{ at: timestampMs(task.createdAt), text: 'created' }];
  const { hold } = money ?? {};
  if (hold?.placedAt === undefined) return created;
  const heldAt = timestampMs(hold.placedAt);
  const held = { at: heldAt, text: `held ${amount(hold.amountNanos, hold.currency)}` };
  const references = referencesOf(task?.order);
  const firstAt = attempts[0]?.startedAt;
  if (references === 0 || firstAt === undefined) return [...created, held];
  const at = timestampMs(firstAt);
  const tookMs = Math.max(0, at - heldAt);
  const text = `staged ${references} ${references === 1 ? 'reference' : 'references'} in ${asSeconds(tookMs)}`;
  return [...created, held, { at, text, tookMs }];
}

function referencesOf(order: Order | undefined): number {
  return order?.content.filter(({ item }) => item.case === 'media').length ?? 0;
}

function ofAttempts({ attempts }: TaskRecord): readonly Step[] {
  return attempts.flatMap((attempt) => {
    const { number, channel, startedAt, endedAt } = attempt;
    if (startedAt === undefined) return [];
    const at = timestampMs(endedAt ?? startedAt);
    const name = `attempt ${number} on ${channel}`;
    if (endedAt === undefined) return [{ at, text: `${name} began` }];
    const tookMs = Math.max(0, at - timestampMs(startedAt));
    return [{ at, text: `${name} ${outcomeOf(attempt)} after ${asSeconds(tookMs)}${reasonOf(attempt)}`, tookMs }];
  });
}

const OUTCOMES: Readonly<Record<string, string>> = {
  accepted: 'was accepted',
  refused: 'was refused',
  unknown: 'got no answer',
};

function outcomeOf({ outcome }: AttemptRecord): string {
  return OUTCOMES[outcome] ?? outcome;
}

function reasonOf({ error }: AttemptRecord): string {
  return error === '' ? '' : ` (${shortened(error)})`;
}

/** Reads the facts that the last step of a task needs. */
function factsOf({ task, attempts }: TaskRecord): EndFacts {
  const accepted = attempts.find(({ outcome }) => outcome === 'accepted')?.endedAt;
  return {
    acceptedAt: accepted === undefined ? undefined : timestampMs(accepted),
    result: task?.result === undefined || task.result.object === '' ? undefined : asBytes(Number(task.result.bytes)),
  };
}

function ofEnd(money: GetHoldResponse | undefined): readonly Step[] {
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

function dayOf(time: Timestamp): string {
  return new Date(timestampMs(time)).toISOString().slice(0, 19).replace('T', ' ');
}
