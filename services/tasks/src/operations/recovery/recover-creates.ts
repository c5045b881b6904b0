import type { Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

const BATCH_MAX = 100;
/** More than a process ever works on at once. */
const OWN_MAX = 10_000;
const CUT_OFF = 'the create ended before the answer of the upstream was written';

/**
 * Settles what creates left behind when their process died. One whose last attempt had started is unknown: the upstream may have the
 * work, so the task lives on with its hold. One that had not is refused, and its hold given back. Gives how many there were.
 */
export async function recoverCreates(deps: Deps, aliveOwners: readonly string[]): Promise<number> {
  const abandoned = await deps.store.abandoned(aliveOwners, BATCH_MAX);
  for (const task of abandoned) await recover(deps, task);
  return abandoned.length;
}

/**
 * The same for creates of this process that ended while nothing could be written; one that it has given up is refused, whatever its
 * attempt says. The rows are read before who is at work, so none is taken from a create that goes on.
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
  // Should its process live after all, it can start no further attempt from here on, and what is read below stays true.
  if (!(await deps.store.disown(task.id))) return;
  const at = deps.clock.now();
  const started = (await deps.store.attempts(task.id)).find(({ outcome }) => outcome === 'started');
  if (started !== undefined) {
    const upstreamAccount = deps.channels.find(started.channel)?.channel.settings.upstreamAccount ?? '';
    await deps.store.leaveUnknown(task.id, {
      number: started.number,
      mapping: { channel: started.channel, upstreamAccount },
      error: CUT_OFF,
      at,
    });
    deps.log.warn({ taskId: task.id, channel: started.channel }, 'a create was cut off while it was being submitted');
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
  log.warn({ taskId }, 'a create was cut off before it was submitted');
}
