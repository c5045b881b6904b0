import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { JobRecord as WireRecord } from '@reelgate/proto/tasks/v1/operator_service';
import type { HistoryEntry } from '../domain/operator-records.ts';
import { withDeadline } from './caller.ts';
import type { Caller } from './caller.ts';
import { fromWireJob } from './jobs-client.ts';
import type { JobFailure } from './jobs-client.ts';
import type { OperatorClients } from './gateway-clients.ts';
import { WIRE_TASK_STATES } from './plain-task.ts';
import type { PlainState } from './plain-task.ts';
import { fromWireHistory, toMs, requireValue } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

/** A job with its private facts. */
export interface JobRecord {
  readonly id: string;
  readonly accountId: string;
  readonly tokenId: string;
  readonly endpoint: string;
  readonly model: string;
  readonly state: PlainState;
  /** The number of times that a call of its upstream was started. */
  readonly starts: number;
  readonly createdAt: number;
  readonly endedAt: number | undefined;
  readonly failure: JobFailure | undefined;
  /** A list has none. */
  readonly history: readonly HistoryEntry[];
}

export interface JobsQuestion {
  readonly limit: number;
  readonly accountId: string | undefined;
  readonly state: PlainState | undefined;
  readonly after: string | undefined;
}

/** The jobs of all accounts as operators see them, in the gateway's types. */
export interface JobRecords {
  /** The newest first. */
  list(
    question: JobsQuestion,
    call: Caller,
  ): Promise<{ readonly jobs: readonly JobRecord[]; readonly hasMore: boolean }>;
  get(jobId: string, call: Caller): Promise<JobRecord>;
  /** Reports whether a job waits for a decision of a person. */
  isInAttention(jobId: string, call: Caller): Promise<boolean>;
}

export function jobRecordsClient({ tasks: rpc }: OperatorClients): JobRecords {
  return {
    list: async ({ limit, accountId = '', state, after = '' }, call) => {
      const wanted = state === undefined ? TaskState.UNSPECIFIED : WIRE_TASK_STATES[state];
      // one more says whether there is a next page
      const request = { accountId, state: wanted, after, limit: limit + 1 };
      const { records } = await rpc.listJobRecords(request, withDeadline(call));
      return { jobs: records.slice(0, limit).map(fromWireRecord), hasMore: records.length > limit };
    },
    get: async (jobId, call) => fromWireRecord(requireValue((await rpc.showJob({ jobId }, withDeadline(call))).record)),
    isInAttention: async (jobId, call) =>
      (await rpc.listAttention({}, withDeadline(call))).items.some(({ taskId }) => taskId === jobId),
  };
}

function fromWireRecord({ job: wire, tokenId, endpoint, model, starts, events }: WireRecord): JobRecord {
  const job = requireValue(wire);
  const { id, state, failure } = fromWireJob(job);
  return {
    id,
    accountId: job.accountId,
    tokenId,
    endpoint,
    model,
    state,
    starts,
    createdAt: toMs(job.createdAt) ?? 0,
    endedAt: toMs(job.completedAt),
    failure,
    history: fromWireHistory(events),
  } satisfies MessageMapping<WireRecord, 'job' | 'events' | 'requestId' | 'traceId'>;
}
