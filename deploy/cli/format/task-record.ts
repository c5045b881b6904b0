import type { Message } from '@bufbuild/protobuf';
import { deriveValues, deriveWords } from '@reelgate/platform/rpc/enum-words';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import type { GetHoldResponse } from '@reelgate/proto/billing/v1/billing_service';
import { MediaRole, TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { Order } from '@reelgate/proto/tasks/v1/order';
import type { AttemptRecord, TaskEvent, TaskRecord } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import { formatNanos } from './quantities.ts';
import { isoTime } from './times.ts';
import { readUpstreamCost } from './upstream-cost.ts';
import type { UpstreamCost } from './upstream-cost.ts';

const REFERENCE_SHOWN_MAX = 200;
export const KINDS = deriveWords(TaskKind, '');
export const STATES: Readonly<Record<string, TaskState>> = deriveValues(TaskState);
const STATE_WORDS: Readonly<Record<number, string | undefined>> = deriveWords(TaskState);
const BASES = deriveWords(Basis, '');

/** A task with its private facts and its money, as one JSON object. */
export function toTaskJson(record: TaskRecord, money: GetHoldResponse | undefined): object {
  const { task, tokenId, admission, upstreamStatus, attempts, events, requestId, traceId } = record;
  return {
    ...toStateJson(task),
    token: tokenId,
    request_id: emptyToUndefined(requestId),
    trace_id: emptyToUndefined(traceId),
    admission,
    upstream_status: emptyToUndefined(upstreamStatus),
    attempts: attempts.map(toAttemptJson),
    events: events.map(toEventJson),
    ...toMoneyJson(money),
    upstream_cost: toCostJson(readUpstreamCost(record, money)),
  };
}

/** The name of a state; empty if it is unknown. */
export function stateName(state: TaskState | undefined): string {
  return STATE_WORDS[state ?? TaskState.UNSPECIFIED] ?? '';
}

export function readPrompt(order: Order | undefined): string {
  return (order?.content ?? []).flatMap(({ item }) => (item.case === 'text' ? [item.value] : [])).join('\n');
}

type OtherName = 'accountId' | 'createdAt' | 'completedAt' | 'expiresAt' | 'failure';
type NotInJson =
  | keyof Message
  | 'unrecognisedStatus'
  | 'progress'
  | 'updatedAt'
  | 'result'
  | 'usage'
  | 'seconds'
  | 'pollAfterMs'
  | 'queue';

/** A member of a task that is neither here nor in the lists above does not compile. */
function toStateJson(task: Task | undefined): object {
  if (task === undefined) return {};
  return {
    id: task.id,
    account: task.accountId,
    kind: KINDS[task.order?.kind ?? TaskKind.UNSPECIFIED],
    state: stateName(task.state) || undefined,
    model: task.order?.model,
    label: emptyToUndefined(task.label),
    order: task.order === undefined ? {} : toOrderJson(task.order),
    created_at: isoTime(task.createdAt),
    completed_at: isoTime(task.completedAt),
    expires_at: isoTime(task.expiresAt),
    error: task.failure === undefined ? undefined : { code: task.failure.code, message: task.failure.message },
  } satisfies Record<Exclude<keyof Task, OtherName | NotInJson>, unknown> & Record<string, unknown>;
}

function toAttemptJson({ number, channel, upstreamId, outcome, error, startedAt, endedAt }: AttemptRecord): object {
  return {
    number,
    channel,
    upstream_id: emptyToUndefined(upstreamId),
    outcome,
    error: emptyToUndefined(error),
    started_at: isoTime(startedAt),
    ended_at: isoTime(endedAt),
  };
}

function toEventJson({ at, type, detailJson }: TaskEvent): object {
  return { ...(JSON.parse(detailJson) as object), at: isoTime(at), type };
}

function toOrderJson(order: Order): object {
  const { content, duration, resolution, ratio, sourceTaskId, aigcWatermark, callbackUrl } = order;
  const media = content.flatMap(({ item }) => (item.case === 'media' ? [item.value] : []));
  return {
    prompt: readPrompt(order),
    duration,
    resolution,
    ratio,
    source_task_id: emptyToUndefined(sourceTaskId),
    aigc_watermark: aigcWatermark,
    callback_url: callbackUrl,
    media:
      media.length === 0
        ? undefined
        : media.map(({ role, url, object }) => ({
            role: MediaRole[role].toLowerCase(),
            reference: url === '' ? object : url.slice(0, REFERENCE_SHOWN_MAX),
          })),
  };
}

/** On the wire an empty text means no value. */
export function emptyToUndefined(text: string): string | undefined {
  return text === '' ? undefined : text;
}

function toCostJson(cost: UpstreamCost | undefined): object | undefined {
  return cost && { amount: formatNanos(cost.nanos), currency: cost.currency, source: cost.source };
}

function toMoneyJson(money: GetHoldResponse | undefined): object {
  const { hold, settlement, deferredAmountNanos: deferred, lines = [] } = money ?? {};
  return {
    hold:
      hold === undefined
        ? undefined
        : {
            amount: formatNanos(hold.amountNanos),
            currency: hold.currency,
            contract: hold.contract,
            version: hold.version,
          },
    settlement:
      settlement === undefined
        ? undefined
        : {
            amount: formatNanos(settlement.amountNanos),
            basis: BASES[settlement.basis],
            at: isoTime(settlement.settledAt),
            deferred_amount: deferred === undefined ? undefined : formatNanos(deferred),
          },
    ledger: lines.map(({ eventKey, book, amountNanos, at }) => ({
      event: eventKey,
      book,
      amount: formatNanos(amountNanos),
      at: isoTime(at),
    })),
  };
}
