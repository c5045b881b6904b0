import { withTimeout } from '@reelgate/platform/clock';
import type { Task } from '../../domain/task.ts';
import { inTask, inWorkSpan } from '../tracing/work-span.ts';
import type { Deps } from '../deps.ts';
import { showTask } from '../attempts/record-outcome.ts';
import { writeTaskSpan } from '../tracing/lifetime-span.ts';
import { DISOWNED } from '../../store/task-store.ts';

const BATCH_MAX = 100;
/** More than a process ever has at once. */
const OWN_MAX = 10_000;
/** The time in milliseconds that billing has to say whether a task has a hold. */
const HOLD_TIMEOUT_MS = 2000;
const INTERRUPTED = 'the create ended before the answer of the upstream was written';
export const INTERRUPTED_FAILURE = {
  code: 'interrupted',
  message: 'the service stopped before the task was submitted',
};
const RECOVER = { name: 'recover create', attributes: { 'reelgate.resumed': true } };

/**
 * Settles the creates of dead processes. If an attempt was started and the task has a hold, the upstream may have the
 * work: the task becomes `unknown` and keeps its hold. Otherwise the create is refused, and its hold is released.
 * Returns how many there were.
 */
export async function recoverCreates(deps: Deps, deadOwners: readonly string[]): Promise<number> {
  const abandoned = await deps.store.listAbandoned(deadOwners, BATCH_MAX);
  const hadNoHold = askForHolds(deps);
  for (const task of abandoned) await inTask(task, () => recover(deps, task, hadNoHold));
  return abandoned.length;
}

/**
 * Settles the creates of this process that ended while the database was away. A create that was given up is refused,
 * whatever its attempt says. The rows are read before `creating`, so a create that is still running keeps its row.
 */
export async function recoverOwnCreates(deps: Deps): Promise<void> {
  const givenUp = [...deps.creating].flatMap(([id, now]) => (now === 'given_up' ? [id] : []));
  const rows = await deps.store.listOwnedCreateIds(deps.processId, OWN_MAX);
  const hadNoHold = askForHolds(deps);
  for (const id of rows) {
    const now = deps.creating.get(id);
    if (now === 'working') continue;
    const task = await deps.store.find(id);
    if (task === undefined) continue;
    await (now === 'given_up' ? refuse(deps, task) : recover(deps, task, hadNoHold));
  }
  for (const id of givenUp) deps.creating.delete(id);
}

async function recover(deps: Deps, task: Task, hadNoHold: HadNoHold): Promise<void> {
  // If its process lives after all, it can start no further attempt from here on, so the following reads stay true.
  if (!(await deps.store.disown(task.id))) return;
  await inWorkSpan(deps, task, RECOVER, () => refuseOrLeaveUnknown(deps, task, hadNoHold));
}

async function refuseOrLeaveUnknown(deps: Deps, task: Task, hadNoHold: HadNoHold): Promise<void> {
  const at = deps.clock.now();
  const attempts = await deps.store.attempts(task.id);
  const started = attempts.findLast(({ outcome }) => outcome === 'started');
  // its owner has seen it, and its hold stands
  if (started === undefined && task.admission === 'waiting') {
    const { number = 0, channel = '', error = '' } = attempts.at(-1) ?? {};
    await deps.store.returnToQueue(task.id, { number, owner: DISOWNED, channel, error, at });
    return;
  }
  if (started === undefined || (task.admission === 'submitting' && (await hadNoHold(task.id)))) {
    await refuse(deps, task);
    return;
  }
  const upstreamAccount = deps.channels.find(started.channel)?.channel.settings.upstreamAccount ?? '';
  const unknownTask = await deps.store.leaveUnknown(task.id, {
    number: started.number,
    mapping: { channel: started.channel, upstreamAccount },
    error: INTERRUPTED,
    at,
  });
  if (unknownTask !== undefined && task.admission === 'submitting') showTask(deps, unknownTask);
  deps.log.warn({ taskId: task.id, channel: started.channel }, 'a create was interrupted during its submission');
}

/**
 * Reports whether a task has no hold and can get no hold from here on, so that it was not submitted and never will be.
 */
export type HadNoHold = (taskId: string) => Promise<boolean>;

/** Once billing could not be asked, each further task may have a hold: a start waits for one answer at most. */
export function askForHolds({ billing, clock, log }: Deps): HadNoHold {
  let isAway = false;
  return async (taskId) => {
    if (isAway) return false;
    try {
      return await withTimeout(clock, { ms: HOLD_TIMEOUT_MS }, (signal) => billing.precludeHold(taskId, { signal }));
    } catch (error) {
      isAway = true;
      log.warn({ taskId, err: error }, 'billing could not say whether an interrupted create has a hold');
      return false;
    }
  };
}

async function refuse(deps: Deps, task: Task): Promise<void> {
  const at = deps.clock.now();
  if (await deps.store.refuse(task.id, INTERRUPTED_FAILURE, at))
    await writeTaskSpan(deps, task, { state: 'failed', at, code: INTERRUPTED_FAILURE.code });
  deps.log.warn({ taskId: task.id }, 'a create was interrupted before its submission');
}
