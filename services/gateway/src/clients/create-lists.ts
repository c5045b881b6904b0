import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Clock } from '@reelgate/platform/clock';
import { openCallLists } from '@reelgate/platform/rpc/call-lists';
import type { ListedCall, Outcome } from '@reelgate/platform/rpc/call-lists';
import { fromWireProblem } from '@reelgate/platform/rpc/problems';
import type { EveryField } from '@reelgate/platform/rpc/service';
import { CreateTaskRequestSchema, TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { CreateTaskCall, CreateTaskOutcome, CreateTaskResponse } from '@reelgate/proto/tasks/v1/task_service';
import type { TasksClient } from './tasks-client.ts';

/** The most creates of one list; the tasks service refuses more. */
const LIST_MAX = 64;
/** The most lists that are under way. A list lasts as long as its slowest create, so no create waits for one. */
const LISTS_MAX = 256;

/** A list of 64 such creates is half of what a message may have, and so are the answers, which repeat the orders. */
const REQUEST_BYTES_MAX = 64 * 1024;

type Create = MessageInitShape<typeof CreateTaskRequestSchema>;

/** A client of the tasks service whose creates of one moment share a call, for one that is called over a network. */
export function shareCreates(tasks: TasksClient, clock: Clock): TasksClient {
  const lists = openCallLists<Create, CreateTaskResponse>({
    method: TaskService.method.createTask,
    clock,
    listMax: LIST_MAX,
    listsMax: LISTS_MAX,
    whenFull: 'go alone',
    requestBytesMax: REQUEST_BYTES_MAX,
    leaversGoAlone: true,
    callAlone: (request, options) => tasks.createTask(request, options),
    callTogether: async (calls, options, tell) => {
      for await (const { outcomes } of tasks.createTasks({ calls: calls.map(toWireCall) }, options))
        for (const outcome of outcomes) tell(outcome.call, fromWireOutcome(outcome));
    },
  });
  return { ...tasks, createTask: (request, options) => lists.call(request, options) };
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
  return { refusal: result.case === 'refusal' ? fromWireProblem(result.value) : new Error('a create has no outcome') };
}
