import type { ChannelRegistry } from '../../channels/channel-registry.ts';
import type { Task } from '../../domain/task.ts';
import type { FoundBy, FoundWork, SearchStore } from '../../store/operator-store.ts';
import type { TaskLister } from '../../store/task-store.ts';

/** The most tasks and jobs that each way of a search finds. */
const FOUND_MAX = 20;
const TRACE_ID = /^[0-9a-f]{32}$/;
const WORK_ID = /^(task|job)_[0-9a-v]{26}$/;

export interface SearchDeps {
  readonly operators: SearchStore;
  readonly tasks: TaskLister;
  readonly channels: ChannelRegistry;
}

/** A task or job with the way in which it was found. An upstream id is for operators alone. */
export interface FoundMatch extends FoundWork {
  readonly by: FoundBy | 'upstream_id';
}

/** Finds tasks and jobs by an id: their own, that of a request, of a trace, or of an upstream. */
export async function findWork(deps: SearchDeps, value: string): Promise<readonly FoundMatch[]> {
  const find = async (by: FoundBy): Promise<readonly FoundMatch[]> =>
    (await deps.operators.findWork(by, value, FOUND_MAX)).map((work) => ({ ...work, by }));
  if (WORK_ID.test(value)) return find('id');
  const lowerCase = value.toLowerCase();
  const found = await Promise.all([
    find('request_id'),
    TRACE_ID.test(lowerCase)
      ? deps.operators
          .findWork('trace_id', lowerCase, FOUND_MAX)
          .then((works) => works.map((work) => ({ ...work, by: 'trace_id' as const })))
      : [],
    findByUpstream(deps, value),
  ]);
  return found.flat();
}

async function findByUpstream({ tasks, channels }: SearchDeps, id: string): Promise<readonly FoundMatch[]> {
  const accounts = [...new Set(channels.all().map(({ channel }) => channel.settings.upstreamAccount))];
  const found = await tasks.list({ hidden: true, upstream: { accounts, id } }, { limit: FOUND_MAX });
  return found.map(toMatch);
}

function toMatch({ id, accountId, order, state, createdAt }: Task): FoundMatch {
  return { id, isJob: false, accountId, model: order.model, state, createdAt, by: 'upstream_id' };
}
