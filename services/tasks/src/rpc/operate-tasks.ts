import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { assertOwner } from '@reelgate/platform/rpc/access';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { readSampledTraceId } from '@reelgate/platform/trace/traceparent';
import type { ListTaskRecordsRequest, OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { isTerminal } from '../domain/task.ts';
import type { Task } from '../domain/task.ts';
import type { Deps } from '../operations/deps.ts';
import { listTaskStep, listTasks } from '../operations/reads/read-tasks.ts';
import { taskNotFound } from '../operations/task-refusals.ts';
import type { ListFilter, Page, TaskStep } from '../store/task-store.ts';
import { readKindFilter, readLimit, readStateFilter, readTime } from './list-request.ts';
import { toWireTask } from './mapping-task.ts';

/** A list of a thousand tasks leaves connections to the database for others. */
const RECORDS_AT_ONCE = 4;

const LIST_LIMIT = 100;

/** The view of tasks for operators, with their attempts and their history. */
export function operateTasks(
  deps: Deps,
): Pick<Implementation<typeof OperatorService>, 'showTask' | 'listTaskRecords' | 'classifyHolds'> {
  const { store } = deps;
  return {
    showTask: async ({ taskId }, { caller }) => {
      const task = await store.find(taskId);
      assertOwner(caller, task?.accountId, 'task_id');
      if (task === undefined) throw taskNotFound();
      return { record: await readTaskRecord(deps, task) };
    },
    listTaskRecords: async (request) => {
      const { tasks, continueAfter = '' } = await listRecorded(deps, request);
      if (request.brief) return { records: tasks.map((task) => toBriefRecord(deps, task)), continueAfter };
      const reads = newSemaphore({ permits: RECORDS_AT_ONCE, waitingMax: tasks.length });
      return {
        records: await Promise.all(tasks.map((task) => reads.run(() => readTaskRecord(deps, task)))),
        continueAfter,
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
  };
}

function listRecorded(deps: Deps, request: ListTaskRecordsRequest): Promise<TaskStep> {
  const filter = toRecordFilter(deps, request);
  const page: Page = {
    limit: readLimit(request.limit, LIST_LIMIT),
    after: request.after === '' ? undefined : request.after,
  };
  return request.inSteps ? listTaskStep(deps, filter, page) : listTasks(deps, filter, page, false);
}

function toRecordFilter({ channels }: Deps, request: ListTaskRecordsRequest): ListFilter {
  const state = readStateFilter(request.state);
  return {
    hidden: true,
    accountId: request.accountId === '' ? undefined : request.accountId,
    states: state === undefined ? [] : [state],
    channel: request.channel === '' ? undefined : request.channel,
    model: request.model === '' ? undefined : request.model,
    kind: readKindFilter(request.kind),
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

export async function readTaskRecord(deps: Deps, task: Task) {
  const [attempts, events] = await Promise.all([deps.store.attempts(task.id), deps.store.events(task.id)]);
  return {
    ...toBriefRecord(deps, task),
    attempts: attempts.map(({ number, channel, upstreamId = '', outcome, error = '', startedAt, endedAt }) => ({
      number,
      channel,
      upstreamId: upstreamId === '' && outcome === 'unknown' ? (task.mapping?.upstreamId ?? '') : upstreamId,
      outcome,
      error,
      startedAt: timestampFromMs(startedAt),
      ...(endedAt === undefined ? {} : { endedAt: timestampFromMs(endedAt) }),
    })),
    events: events.map(({ at, type, detailJson }) => ({ at: timestampFromMs(at), type, detailJson })),
  };
}

/** A record without attempts and events, which have rows of their own. */
function toBriefRecord({ clock }: Pick<Deps, 'clock'>, task: Task) {
  return {
    task: toWireTask(task, clock.now()),
    tokenId: task.tokenId,
    admission: task.admission,
    upstreamStatus: task.upstreamStatus ?? '',
    ...(task.nextPollAt === undefined ? {} : { nextPollAt: timestampFromMs(task.nextPollAt) }),
    pollErrors: task.pollErrors,
    requestId: task.requestId ?? '',
    channel: task.mapping?.channel ?? '',
    upstreamId: task.mapping?.upstreamId ?? '',
    traceId: readSampledTraceId(task.trace) ?? '',
  };
}
