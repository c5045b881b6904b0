import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { assertOwner } from '@reelgate/platform/rpc/access';
import type { Implementation } from '@reelgate/platform/rpc/service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { isTerminal } from '../domain/task.ts';
import type { Task } from '../domain/task.ts';
import type { Deps } from '../operations/deps.ts';
import { assertPosition } from '../operations/reads/assert-position.ts';
import { taskNotFound } from '../operations/task-refusals.ts';
import { readLimit, readStateFilter } from './list-request.ts';
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
      return { record: await taskRecord(deps, task) };
    },
    listTaskRecords: async ({ accountId, state, limit, after }) => {
      const named = readStateFilter(state);
      const page = { limit: readLimit(limit, LIST_LIMIT), after: after === '' ? undefined : after };
      if (after !== '') assertPosition(await store.find(after), accountId, 'task');
      const tasks = await store.list(
        {
          hidden: true,
          accountId: accountId === '' ? undefined : accountId,
          states: named === undefined ? [] : [named],
        },
        page,
      );
      const reads = newSemaphore({ permits: RECORDS_AT_ONCE, waitingMax: tasks.length });
      return { records: await Promise.all(tasks.map((task) => reads.run(() => taskRecord(deps, task)))) };
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

function isFinished(task: Task | undefined): boolean {
  return task !== undefined && isTerminal(task.state) && task.admission !== 'refused';
}

export async function taskRecord({ store, clock }: Deps, task: Task) {
  const [attempts, events] = await Promise.all([store.attempts(task.id), store.events(task.id)]);
  return {
    task: toWireTask(task, clock.now()),
    tokenId: task.tokenId,
    admission: task.admission,
    upstreamStatus: task.upstreamStatus ?? '',
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
    ...(task.nextPollAt === undefined ? {} : { nextPollAt: timestampFromMs(task.nextPollAt) }),
    pollErrors: task.pollErrors,
    requestId: task.requestId ?? '',
  };
}
