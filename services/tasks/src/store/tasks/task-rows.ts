import type { SqlRow, SqlValue } from '@reelgate/platform/sql/sql';
import type { Order } from '../../domain/order.ts';
import type { Admission, Doubt, Failure, Mapping, Result, StagedMedia, State, Task, Usage } from '../../domain/task.ts';

/** The columns that `fromTaskRow` reads. */
export const TASK_COLUMNS = `id, account_id, token_id, order_json, admission, state, upstream_status, unrecognised,
  progress, seconds, created_at, updated_at, finished_at, expires_at, channel, upstream_account, upstream_id,
  result_json, failure_json, usage_json, next_poll_at, poll_errors, staged_json, doubt, doubt_looks, request_id,
  trace, trace_parent, polls, poll_spans, resumed`;

export function fromTaskRow(row: SqlRow): Task {
  return {
    id: text(row['id']),
    accountId: text(row['account_id']),
    tokenId: text(row['token_id']),
    order: JSON.parse(text(row['order_json'])) as Order,
    admission: text(row['admission']) as Admission,
    state: text(row['state']) as State,
    upstreamStatus: optionalText(row['upstream_status']),
    unrecognised: Number(row['unrecognised']) === 1,
    progress: Number(row['progress']),
    seconds: Number(row['seconds']),
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    finishedAt: optionalNumber(row['finished_at']),
    expiresAt: optionalNumber(row['expires_at']),
    mapping: readMapping(row),
    staged: json<Readonly<Record<number, StagedMedia>>>(row['staged_json']),
    result: json<Result>(row['result_json']),
    failure: json<Failure>(row['failure_json']),
    usage: json<Usage>(row['usage_json']),
    nextPollAt: optionalNumber(row['next_poll_at']),
    pollErrors: Number(row['poll_errors']),
    doubt: readDoubt(row),
    requestId: optionalText(row['request_id']),
    trace: optionalText(row['trace']),
    traceParent: optionalText(row['trace_parent']),
    polls: Number(row['polls']),
    pollSpans: Number(row['poll_spans']),
    resumed: Number(row['resumed']) === 1,
  };
}

function readDoubt(row: SqlRow): Doubt | undefined {
  const reason = optionalText(row['doubt']);
  return reason === undefined ? undefined : { reason: reason as Doubt['reason'], polls: Number(row['doubt_looks']) };
}

function readMapping(row: SqlRow): Mapping | undefined {
  const channel = optionalText(row['channel']);
  const upstreamAccount = optionalText(row['upstream_account']);
  return channel === undefined || upstreamAccount === undefined
    ? undefined
    : { channel, upstreamAccount, upstreamId: optionalText(row['upstream_id']) };
}

export function toJson(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

export function text(value: SqlValue | undefined): string {
  return String(value ?? '');
}

/** A text to search for. PostgreSQL refuses the zero character; the replacement occurs in no stored text. */
export function searchable(text: string): string {
  return text.replaceAll('\0', '\ufffd');
}

export function optionalText(value: SqlValue | undefined): string | undefined {
  return value === null || value === undefined ? undefined : String(value);
}

export function optionalNumber(value: SqlValue | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

/** A list of `count` SQL parameters that begins with `$from`. */
export function placeholders(count: number, from: number): string {
  return Array.from({ length: count }, (_, index) => `$${from + index}`).join(', ');
}

export function json<T>(value: SqlValue | undefined): T | undefined {
  return typeof value === 'string' ? (JSON.parse(value) as T) : undefined;
}
