import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { CreateTaskRequest } from '@reelgate/proto/tasks/v1/task_service';
import { bindWithLists } from '../src/rpc/service.ts';
import type { Binding, CallContext, Implementation } from '../src/rpc/service.ts';
import { partialService } from './partial-service.ts';

type Create = (request: CreateTaskRequest, context: CallContext) => Promise<object>;

/** The tasks service with a create of the test, which a list of creates runs for each of its calls. */
export function aListedService(createTask: Create): Binding {
  const { methods } = partialService(TaskService, { createTask });
  const { createTasks: _list, ...others } = methods as unknown as Implementation<typeof TaskService>;
  return bindWithLists(TaskService, others, { createTasks: 'createTask' });
}
