import type { Task } from '../domain/task.ts';
import type { Deps } from './deps.ts';

/** No create takes this long: its calls have deadlines. */
const CREATE_MAX_MS = 15 * 60_000;
const BATCH_MAX = 100;
const CUT_OFF = 'the process ended before the upstream answered';

/**
 * Settles what creates left behind when their process died. One whose last attempt had started is unknown: the upstream may have the
 * work, so the task lives on with its hold. One that had not is refused, and its hold given back. Gives how many there were.
 */
export async function recoverCreates(deps: Deps, aliveOwners: readonly string[]): Promise<number> {
  const abandoned = await deps.store.abandoned(aliveOwners, deps.clock.now() - CREATE_MAX_MS, BATCH_MAX);
  for (const task of abandoned) await recover(deps, task);
  return abandoned.length;
}

async function recover(deps: Deps, task: Task): Promise<void> {
  // Should its process live after all, it can start no further attempt from here on, and what is read below stays true.
  if (!(await deps.store.disown(task.id))) return;
  const at = deps.clock.now();
  const started = (await deps.store.attempts(task.id)).find(({ outcome }) => outcome === 'started');
  if (started !== undefined) {
    const upstreamAccount = deps.fleet.find(started.channel)?.channel.settings.upstreamAccount ?? '';
    await deps.store.leaveUnknown(task.id, { number: started.number, mapping: { channel: started.channel, upstreamAccount }, error: CUT_OFF, at });
    deps.log.warn({ taskId: task.id, channel: started.channel }, 'a create was cut off while it was being submitted');
    return;
  }
  await deps.store.refuse(task.id, { code: 'interrupted', message: 'the service stopped before the task was submitted' }, at);
  deps.log.warn({ taskId: task.id }, 'a create was cut off before it was submitted');
}
