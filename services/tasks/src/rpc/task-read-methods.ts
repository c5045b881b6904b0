import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Implementation } from '@reelgate/platform/rpc/service';
import type { ListTasksRequest, TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { Deps } from '../operations/deps.ts';
import { getTask, listTaskStep, listTasks, withKey } from '../operations/reads/read-tasks.ts';
import type { OwnersFilter } from '../operations/reads/read-tasks.ts';
import { readTimeline } from '../operations/reads/read-tasks.ts';
import { stepsNotCombined } from '../operations/task-refusals.ts';
import type { Page } from '../store/task-store.ts';
import { readKindFilter, readLimit, readTime } from './list-request.ts';
import { fromWireEnum } from './mapping-order.ts';
import { STATES, toWireTask } from './mapping-task.ts';
import { toWireEntry } from './mapping-timeline.ts';

const LIST_LIMIT = 20;

/** The reads of owners. */
export type ReadMethods = Pick<Implementation<typeof TaskService>, 'getTask' | 'getTaskTimeline' | 'listTasks'>;

export function readMethods(deps: Deps): ReadMethods {
  const now = (): number => deps.clock.now();
  return {
    getTask: async ({ accountId, taskId }, { span }) => {
      const task = await getTask(deps, accountId, taskId);
      span.link(task.trace);
      return { task: toWireTask(task, now()) };
    },
    getTaskTimeline: async ({ accountId, taskId }, { span }) => {
      const { task, entries } = await readTimeline(deps, accountId, taskId);
      span.link(task.trace);
      return {
        entries: entries.map(toWireEntry),
        tokenId: task.tokenId,
        requestId: task.requestId ?? '',
        now: timestampFromMs(now()),
      };
    },
    listTasks: async (request) => {
      if (request.inSteps && (request.offset !== 0 || request.withTotal)) throw stepsNotCombined();
      const filter = await toOwnersFilter(deps, request);
      if (filter === undefined) return {};
      const page = toPage(request);
      if (request.inSteps) {
        const { tasks, continueAfter } = await listTaskStep(deps, filter, page);
        return {
          tasks: tasks.map((task) => toWireTask(task, now())),
          hasMore: continueAfter !== undefined,
          continueAfter: continueAfter ?? '',
        };
      }
      const { tasks, hasMore, total } = await listTasks(deps, filter, page, request.withTotal);
      return { tasks: tasks.map((task) => toWireTask(task, now())), hasMore, total: BigInt(total ?? 0) };
    },
  };
}

/** Undefined: no task matches. */
async function toOwnersFilter(deps: Deps, request: ListTasksRequest): Promise<OwnersFilter | undefined> {
  const filter = {
    accountId: request.accountId,
    states: request.states.map((state) => fromWireEnum(STATES, state)),
    taskIds: request.taskIds,
    model: request.model === '' ? undefined : request.model,
    kind: readKindFilter(request.kind),
    createdFrom: readTime(request.createdFrom),
    createdBefore: readTime(request.createdBefore),
  };
  return request.idempotencyKey === '' ? filter : withKey(deps, filter, request.idempotencyKey);
}

function toPage({ limit, after, offset, ascending }: ListTasksRequest): Page {
  return { limit: readLimit(limit, LIST_LIMIT), after: after === '' ? undefined : after, offset, ascending };
}
