import { Problem } from '@reelgate/platform/problem';
import type { Berth } from '../../channels/channel-registry.ts';
import { isTerminal } from '../../domain/task.ts';
import type { Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

const HINT_LENGTH_MAX = 128;
/** Looks for hinted work that may run at once in this process; what comes beyond is found by the list or a later call. */
const LOOKS_MAX = 32;
const LOOK_TIMEOUT_MS = 20_000;
const MENDED = { resolution: 'found', actor: 'service' };

/** `token` is the end of the address that was called, `hint` the id of the work as the caller gave it, or empty. */
export type HeedCallback = (token: string, hint: string) => Promise<void>;

/**
 * An upstream called: the task is looked at now, and what was said is not believed. Where the answer to the submission was lost, the
 * hint says which work to look for; the task is given it when the upstream knows it and no other task has it. Whatever comes again,
 * late or in another order changes nothing.
 */
export function callbackHeeder(deps: Deps): HeedCallback {
  const looking = new Set<string>();
  return async (token, hint) => {
    const attempt = deps.callbacks.attemptOf(token);
    if (attempt === undefined)
      throw new Problem({ kind: 'not_found', reason: 'not_found', message: 'there is nothing at this address' });
    const task = await deps.store.find(attempt.taskId);
    if (task?.mapping === undefined || isTerminal(task.state)) return;
    if (task.admission === 'accepted' && (await deps.store.heed(task.id, deps.clock.now())))
      deps.wake.polls(task.mapping.channel);
    if (task.admission !== 'unknown' || looking.has(task.id) || looking.size >= LOOKS_MAX) return;
    looking.add(task.id);
    try {
      await findHinted(deps, task, attempt.number, hint);
    } finally {
      looking.delete(task.id);
    }
  };
}

async function findHinted(deps: Deps, { id: taskId, mapping }: Task, number: number, hint: string): Promise<void> {
  const berth = berthOf(deps, mapping);
  if (berth === undefined || hint === '' || hint.length > HINT_LENGTH_MAX) return;
  const { settings } = berth.channel;
  // The address of an earlier attempt, which was refused, says nothing of the one whose answer was lost.
  if ((await deps.store.attempts(taskId)).at(-1)?.number !== number) return;
  if ((await deps.store.knownUpstreamIds(settings.upstreamAccount, [hint])).has(hint)) {
    deps.log.warn({ taskId, channel: settings.id }, 'a callback named the work of another task');
    return;
  }
  if (!berth.polls.take()) return;
  const look = await berth.channel.look(hint, AbortSignal.timeout(LOOK_TIMEOUT_MS));
  if (!look.found || !(await deps.store.adopt(taskId, hint, deps.clock.now()))) return;
  await deps.store.resolve(taskId, { ...MENDED, at: deps.clock.now() });
  deps.log.info({ taskId, channel: settings.id }, 'a lost answer was found by a callback');
  deps.wake.polls(settings.id);
}

/** Where the work is. The same name may stand for another account since the configuration was taken anew; its ids mean nothing then. */
function berthOf({ fleet }: Deps, mapping: Task['mapping']): Berth | undefined {
  const berth = fleet.find(mapping?.channel ?? '');
  return berth?.channel.settings.upstreamAccount === mapping?.upstreamAccount ? berth : undefined;
}
