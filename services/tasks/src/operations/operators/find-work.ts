import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { FoundWorkSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { FoundWork } from '@reelgate/proto/tasks/v1/operator_service';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import type { ChannelRegistry } from '../../channels/channel-registry.ts';
import type { SearchStore } from '../../store/operator-store.ts';
import type { TaskLister } from '../../store/task-store.ts';

/** The most tasks and jobs that each way of a search finds. */
const FOUND_MAX = 20;
const TRACE_ID = /^[0-9a-f]{32}$/;
const STATES = deriveValues(TaskState);
const WORK_ID = /^(task|job)_[0-9a-v]{26}$/;

export interface SearchDeps {
  readonly operators: SearchStore;
  readonly tasks: TaskLister;
  readonly channels: ChannelRegistry;
}

/** Finds tasks and jobs by an id: their own id, or the id of a request, of a trace, or of upstream work. */
export async function findWork(deps: SearchDeps, value: string): Promise<FoundWork[]> {
  const { operators } = deps;
  if (WORK_ID.test(value)) return [...(await operators.findWork('id', value, FOUND_MAX))];
  const lowerCase = value.toLowerCase();
  const found = await Promise.all([
    operators.findWork('request_id', value, FOUND_MAX),
    TRACE_ID.test(lowerCase) ? operators.findWork('trace_id', lowerCase, FOUND_MAX) : [],
    findByUpstream(deps, value),
  ]);
  return found.flat();
}

/** An upstream id is for operators alone. */
async function findByUpstream({ tasks, channels }: SearchDeps, upstreamId: string): Promise<readonly FoundWork[]> {
  const accounts = [...new Set(channels.all().map(({ channel }) => channel.settings.upstreamAccount))];
  const found = await tasks.list({ hidden: true, upstream: { accounts, id: upstreamId } }, { limit: FOUND_MAX });
  return found.map(({ id, accountId, order, state, createdAt }) =>
    toMessage(FoundWorkSchema, {
      ...{ id, isJob: false, accountId, model: order.model },
      state: STATES[state],
      createdAt: timestampFromMs(createdAt),
      foundBy: 'upstream_id',
    }),
  );
}
