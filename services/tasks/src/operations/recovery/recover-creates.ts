import type { Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

const BATCH_MAX = 100;
/** More than a process ever has at once. */
const OWN_MAX = 10_000;
const INTERRUPTED = 'the create ended before the answer of the upstream was written';

/**
 * Settles the creates of dead processes. If an attempt was started, the upstream may have the work: the task becomes
 * `unknown` and keeps its hold. Otherwise the create is refused, and its hold is released. Returns how many there were.
 */
export async function recoverCreates(deps: Deps, aliveOwners: readonly string[]): Promise<number> {
  const abandoned = await deps.store.abandoned(aliveOwners, BATCH_MAX);
  for (const task of abandoned) await recover(deps, task);
  return abandoned.length;
}

/**
 * Settles the creates of this process that ended while the database was away. A create that was given up is refused,
 * whatever its attempt says. The rows are read before `creating`, so a create that is still running keeps its row.
 */
export async function recoverOwnCreates(deps: Deps): Promise<void> {
  const givenUp = [...deps.creating].flatMap(([id, now]) => (now === 'given_up' ? [id] : []));
  const rows = await deps.store.submittedBy(deps.processId, OWN_MAX);
  for (const id of rows) {
    const now = deps.creating.get(id);
    if (now === undefined) await recover(deps, { id });
    if (now === 'given_up') await refuse(deps, id);
  }
  for (const id of givenUp) deps.creating.delete(id);
}

async function recover(deps: Deps, task: Pick<Task, 'id'>): Promise<void> {
  // If its process lives after all, it can start no further attempt from here on, so what is read below stays true.
  if (!(await deps.store.disown(task.id))) return;
  const at = deps.clock.now();
  const started = (await deps.store.attempts(task.id)).find(({ outcome }) => outcome === 'started');
  if (started !== undefined) {
    const upstreamAccount = deps.channels.find(started.channel)?.channel.settings.upstreamAccount ?? '';
    const left = await deps.store.leaveUnknown(task.id, {
      number: started.number,
      mapping: { channel: started.channel, upstreamAccount },
      error: INTERRUPTED,
      at,
    });
    if (left !== undefined) deps.announce(left);
    deps.log.warn({ taskId: task.id, channel: started.channel }, 'a create was interrupted during its submission');
    return;
  }
  await refuse(deps, task.id);
}

async function refuse({ store, clock, log }: Deps, taskId: string): Promise<void> {
  await store.refuse(
    taskId,
    { code: 'interrupted', message: 'the service stopped before the task was submitted' },
    clock.now(),
  );
  log.warn({ taskId }, 'a create was interrupted before its submission');
}
