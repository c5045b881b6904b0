import type { AttemptRecord, TaskRecord as WireRecord } from '@reelgate/proto/tasks/v1/operator_service';
import type { Task } from '@reelgate/proto/tasks/v1/task';
import type { HistoryEntry } from '../domain/operator-records.ts';
import { withDeadline } from './caller.ts';
import type { Caller } from './caller.ts';
import type { OperatorClients } from './gateway-clients.ts';
import { toPlainTask } from './plain-task.ts';
import type { PlainTask } from './plain-task.ts';
import { fromWireHistory, toMs, requireValue, emptyToUndefined } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

const DEADLINE_MS = 15_000;

/** One try of a task on a channel. */
export interface TaskAttempt {
  readonly number: number;
  readonly channel: string;
  readonly upstreamId: string;
  readonly outcome: string;
  readonly error: string;
  readonly startedAt: number;
  readonly endedAt: number | undefined;
}

/** A task with its private facts. */
export interface TaskRecord {
  readonly task: PlainTask;
  /** For the answer that its owner gets. */
  readonly wire: Task;
  readonly accountId: string;
  readonly tokenId: string;
  readonly channel: string;
  readonly upstreamId: string;
  readonly upstreamStatus: string;
  readonly admission: string;
  readonly nextPollAt: number | undefined;
  readonly pollErrors: number;
  readonly traceId: string;
  /** The charge that the upstream reported; undefined if it does not say it. */
  readonly upstreamCostMicroUsd: bigint | undefined;
  readonly requestId: string | undefined;
  /** A list has none of these. */
  readonly attempts: readonly TaskAttempt[];
  readonly history: readonly HistoryEntry[];
}

/** The tasks of all accounts as operators see them, in the gateway's types. */
export interface TaskRecords {
  get(taskId: string, caller: Caller): Promise<TaskRecord>;
  /** Reports whether a task waits for a decision of a person. */
  isInAttention(taskId: string, caller: Caller): Promise<boolean>;
}

export function taskRecordsClient({ tasks: rpc }: OperatorClients): TaskRecords {
  return {
    get: async (taskId, caller) =>
      fromWireRecord(requireValue((await rpc.showTask({ taskId }, withDeadline(caller, DEADLINE_MS))).record)),
    isInAttention: async (id, caller) =>
      (await rpc.listAttention({}, withDeadline(caller, DEADLINE_MS))).items.some(({ taskId }) => taskId === id),
  };
}

function fromWireRecord(record: WireRecord): TaskRecord {
  const { tokenId, channel, upstreamId, upstreamStatus, admission, pollErrors, traceId, upstreamCostMicroUsd } = record;
  const wire = requireValue(record.task);
  return {
    ...{ tokenId, channel, upstreamId, upstreamStatus, admission, pollErrors, traceId, upstreamCostMicroUsd, wire },
    task: toPlainTask(wire),
    accountId: wire.accountId,
    nextPollAt: toMs(record.nextPollAt),
    requestId: emptyToUndefined(record.requestId),
    attempts: record.attempts.map(fromWireAttempt),
    history: fromWireHistory(record.events),
  } satisfies MessageMapping<WireRecord, 'events'>;
}

function fromWireAttempt({
  number,
  channel,
  upstreamId,
  outcome,
  error,
  startedAt,
  endedAt,
}: AttemptRecord): TaskAttempt {
  return {
    ...{ number, channel, upstreamId, outcome, error },
    startedAt: toMs(startedAt) ?? 0,
    endedAt: toMs(endedAt),
  } satisfies MessageMapping<AttemptRecord>;
}
