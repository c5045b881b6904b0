import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { assertOwner } from '@reelgate/platform/rpc/access';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { readSampledTraceId } from '@reelgate/platform/trace/traceparent';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import {
  AttemptRecordSchema,
  TaskEventSchema,
  TaskRecordSchema,
  JobRecordSchema,
} from '@reelgate/proto/tasks/v1/operator_service';
import type {
  AttemptRecord,
  ListTaskRecordsRequest,
  OperatorService,
  TaskEvent,
  TaskRecord,
  JobRecord,
} from '@reelgate/proto/tasks/v1/operator_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { Annotations } from '../domain/annotations.ts';
import { isTerminal } from '../domain/task.ts';
import type { Mapping, Task } from '../domain/task.ts';
import type { Deps } from '../operations/deps.ts';
import { assertInSteps, listTaskStep, listTasks, assertPosition } from '../operations/reads/read-tasks.ts';
import { taskNotFound, jobNotFound } from '../operations/task-refusals.ts';
import type { Attempt, HistoryEntry, ListFilter, Page, TaskCount, TaskStep } from '../store/task-store.ts';
import {
  emptyToUndefined,
  readLimit,
  readTaskFilter,
  readTime,
  toWireCount,
  readStateFilter,
} from './request-fields.ts';
import { toWireTask, toWireJob } from '../operations/reads/work-messages.ts';
import type { EveryMember } from '../domain/every-member.ts';
import type { JobDeps } from '../operations/jobs/job-deps.ts';
import type { Job } from '../store/job-store.ts';

/** A list of a thousand tasks leaves connections to the database for others. */
const RECORDS_AT_ONCE = 4;

const LIST_LIMIT = 100;

/** The view of tasks for operators, with their attempts and their history. */
export function operateTasks(deps: Deps) {
  const { store } = deps;
  return {
    showTask: async ({ taskId }, { caller }) => {
      const task = await store.find(taskId);
      assertOwner(caller, task?.accountId, 'task_id');
      if (task === undefined) throw taskNotFound();
      return { record: await readTaskRecord(deps, task) };
    },
    listTaskRecords: async (request) => {
      const { tasks, continueAfter = '', counted } = await listRecorded(deps, request);
      const page = { continueAfter, ...toWireCount(counted) };
      if (request.brief) return { records: tasks.map((task) => toWireRecord(deps, task)), ...page };
      const reads = newSemaphore({ permits: RECORDS_AT_ONCE, waitingMax: tasks.length });
      return {
        records: await Promise.all(tasks.map((task) => reads.run(() => readTaskRecord(deps, task)))),
        ...page,
      };
    },
    classifyHolds: async ({ taskIds }) => {
      const found = new Map(
        (await store.list({ hidden: true, taskIds }, { limit: taskIds.length })).map((task) => [task.id, task]),
      );
      return {
        finished: taskIds.filter((id) => isFinished(found.get(id))),
        unknown: taskIds.filter((id) => !found.has(id) || found.get(id)?.admission === 'refused'),
      };
    },
  } satisfies Partial<Implementation<typeof OperatorService>>;
}

function listRecorded(
  deps: Deps,
  request: ListTaskRecordsRequest,
): Promise<TaskStep & { readonly counted?: TaskCount }> {
  const filter = toRecordFilter(deps, request);
  const page: Page = {
    limit: readLimit(request.limit, LIST_LIMIT),
    after: emptyToUndefined(request.after),
  };
  if (request.inSteps) return listTaskStep(deps, filter, page, request);
  assertInSteps(request);
  return listTasks(deps, filter, page, false);
}

/** Only owners list by these members. */
type OwnersMember = 'taskIds' | 'tokenId' | 'prompt' | keyof Annotations;

function toRecordFilter(
  { channels }: Deps,
  request: ListTaskRecordsRequest,
): EveryMember<Omit<ListFilter, OwnersMember>> {
  return {
    ...readTaskFilter({ ...request, states: request.state === TaskState.UNSPECIFIED ? [] : [request.state] }),
    hidden: true,
    channel: emptyToUndefined(request.channel),
    createdFrom: readTime(request.createdFrom),
    createdBefore: readTime(request.createdBefore),
    upstream:
      request.upstreamId === ''
        ? undefined
        : {
            accounts: [...new Set(channels.all().map(({ channel }) => channel.settings.upstreamAccount))],
            id: request.upstreamId,
          },
  };
}

function isFinished(task: Task | undefined): boolean {
  return task !== undefined && isTerminal(task.state) && task.admission !== 'refused';
}

export async function readTaskRecord(deps: Deps, task: Task): Promise<TaskRecord> {
  const [attempts, events] = await Promise.all([deps.store.attempts(task.id), deps.store.events(task.id)]);
  return toWireRecord(deps, task, attempts, events);
}

/** A brief record has no attempts and events, which have rows of their own. */
function toWireRecord(
  { clock }: Deps,
  task: Task,
  attempts: readonly Attempt[] = [],
  events: readonly HistoryEntry[] = [],
): TaskRecord {
  const { mapping } = task;
  return toMessage(TaskRecordSchema, {
    task: toWireTask(task, clock.now()),
    tokenId: task.tokenId,
    admission: task.admission,
    upstreamStatus: task.upstreamStatus,
    attempts: attempts.map((attempt) => toWireAttempt(attempt, mapping)),
    events: events.map(toWireEvent),
    nextPollAt: toTimestamp(task.nextPollAt),
    pollErrors: task.pollErrors,
    requestId: task.requestId,
    channel: mapping?.channel,
    upstreamId: mapping?.upstreamId,
    traceId: readSampledTraceId(task.trace),
    upstreamCostMicroUsd: toWireCost(task.upstreamCostMicroUsd),
  });
}

function toWireCost(microUsd: number | undefined): bigint | undefined {
  return microUsd === undefined ? undefined : BigInt(microUsd);
}

/** A lost attempt has no upstream id of its own until its work is found. */
function toWireAttempt(attempt: Attempt, mapping: Mapping | undefined): AttemptRecord {
  const { number, channel, upstreamId, outcome, error, startedAt, endedAt } = attempt;
  return toMessage(AttemptRecordSchema, {
    number,
    channel,
    upstreamId: upstreamId ?? (outcome === 'unknown' ? mapping?.upstreamId : undefined),
    outcome,
    error,
    startedAt: timestampFromMs(startedAt),
    endedAt: toTimestamp(endedAt),
  });
}

function toWireEvent({ at, type, detailJson }: HistoryEntry): TaskEvent {
  return toMessage(TaskEventSchema, { at: timestampFromMs(at), type, detailJson });
}

/** The view of jobs for operators: everything except the request and the answer. */
export function operateJobs({ jobs, attention }: JobDeps) {
  return {
    showJob: async ({ jobId }, { caller }) => {
      const job = await jobs.findJob(jobId);
      assertOwner(caller, job?.accountId, 'job_id');
      if (job === undefined) throw jobNotFound();
      return { record: toJobRecord(job, await attention.events(jobId)) };
    },
    listJobRecords: async ({ accountId, state, limit, after }) => {
      const page = { limit: readLimit(limit, LIST_LIMIT), after };
      const filter = { accountId, state: readStateFilter(state) };
      if (after !== '') assertPosition(await jobs.findJob(after), accountId, 'job');
      const found = await jobs.listJobs(filter, page);
      return { records: found.map((job) => toJobRecord(job)) };
    },
  } satisfies Partial<Implementation<typeof OperatorService>>;
}

/** In a list a job has no history, which has rows of its own. */
export function toJobRecord(job: Job, events: readonly HistoryEntry[] = []): JobRecord {
  const { answer, tokenId, endpoint, model, starts, requestId, trace } = job;
  return toMessage(JobRecordSchema, {
    job: toWireJob({ ...job, answer: answer && { ...answer, body: { case: 'inline', value: new Uint8Array() } } }),
    tokenId,
    endpoint,
    model,
    starts,
    events: events.map(toWireEvent),
    requestId,
    traceId: readSampledTraceId(trace),
  });
}
