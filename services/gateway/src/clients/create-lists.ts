import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Clock } from '@reelgate/platform/clock';
import { newCallLists } from '@reelgate/platform/rpc/call-lists';
import type { ListedCall, Outcome, ReportOutcome } from '@reelgate/platform/rpc/call-lists';
import { fromWireProblem } from '@reelgate/platform/rpc/problems';
import { findLoss, readRepeatable } from '@reelgate/platform/rpc/repeats';
import type { CallOptions } from '@reelgate/platform/rpc/service';
import type { EveryField } from '@reelgate/platform/rpc/whole-message';
import { CreateTaskRequestSchema, TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { CreateTaskCall, CreateTaskOutcome, CreateTaskResponse } from '@reelgate/proto/tasks/v1/task_service';
import type { TasksClient } from './tasks-client.ts';

/** The maximum number of creates in one list. The tasks service refuses longer lists. */
const LIST_MAX = 64;
/**
 * The maximum number of lists that are being sent. A list lasts as long as its slowest create, so no create waits for a
 * list.
 */
const LISTS_MAX = 256;

/** A list of 64 such creates fills half of the largest message, and so do the answers, which repeat the orders. */
const REQUEST_BYTES_MAX = 64 * 1024;

type Create = MessageInitShape<typeof CreateTaskRequestSchema>;

const isRepeatable = readRepeatable(TaskService.method.createTask);

/** Wraps a client of the tasks service that is called over a network, so that creates of one moment share a call. */
export function shareCreates(tasks: TasksClient, clock: Clock): TasksClient {
  const lists = newCallLists<Create, CreateTaskResponse>({
    method: TaskService.method.createTask,
    clock,
    listMax: LIST_MAX,
    listsMax: LISTS_MAX,
    whenFull: 'go alone',
    requestBytesMax: REQUEST_BYTES_MAX,
    leaversGoAlone: true,
    callAlone: (request, options) => tasks.createTask(request, options),
    callTogether: async (calls, options, report) => {
      const [startedAt, waiting] = [clock.now(), new Map(calls.entries())];
      try {
        for await (const { outcomes } of tasks.createTasks({ calls: calls.map(toWireCall) }, options))
          for (const outcome of outcomes) {
            waiting.delete(outcome.call);
            report(outcome.call, fromWireOutcome(outcome));
          }
      } catch (error) {
        if (findLoss(error) === undefined) throw error;
        const { timeoutMs } = options;
        const left = timeoutMs === undefined ? {} : { timeoutMs: timeoutMs - (clock.now() - startedAt) };
        await endLost(tasks, waiting, { error, options: { ...options, ...left }, report });
      }
    },
  });
  return { ...tasks, createTask: (request, options) => lists.call(request, options) };
}

interface LostList {
  readonly error: unknown;
  readonly options: CallOptions;
  readonly report: ReportOutcome<CreateTaskResponse>;
}

/**
 * Ends the creates of a list that broke. A create with a key is sent again under it. Any other create may have created
 * its task.
 */
async function endLost(
  tasks: TasksClient,
  waiting: ReadonlyMap<number, ListedCall<Create>>,
  { error, options, report }: LostList,
): Promise<void> {
  await Promise.all(
    [...waiting].map(async ([index, { request, requestId }]) => {
      if (!isRepeatable(request)) {
        report(index, { refusal: error });
        return;
      }
      await tasks.createTask(request, { ...options, requestId }).then(
        (answer) => report(index, { answer }),
        (refusal: unknown) => report(index, { refusal }),
      );
    }),
  );
}

function toWireCall({ request, requestId, traceParent }: ListedCall<Create>): CreateTaskCall {
  return {
    $typeName: 'reelgate.tasks.v1.CreateTaskCall',
    request: create(CreateTaskRequestSchema, request),
    requestId,
    traceParent,
  } satisfies EveryField<CreateTaskCall>;
}

function fromWireOutcome({ result }: CreateTaskOutcome): Outcome<CreateTaskResponse> {
  if (result.case === 'answer') return { answer: result.value };
  return {
    refusal: result.case === 'refusal' ? fromWireProblem(result.value) : new Error('a create of a list has no outcome'),
  };
}
