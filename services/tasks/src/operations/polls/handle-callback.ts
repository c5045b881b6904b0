import { Problem } from '@reelgate/platform/problem';
import type { ChannelRuntime } from '../../channels/channel-registry.ts';
import { isTerminal } from '../../domain/task.ts';
import type { Task } from '../../domain/task.ts';
import type { Deps } from '../deps.ts';

const HINT_LENGTH_MAX = 128;
/** Looks for hinted work that may run at once in this process; what comes beyond is found by the list or a later call. */
const POLLS_MAX = 32;
const POLL_TIMEOUT_MS = 20_000;
const RESOLVED_BY_SERVICE = { resolution: 'found', actor: 'service' };

/** `token` is the end of the address that was called, `hint` the id of the work as the caller gave it, or empty. */
export type HandleCallback = (token: string, hint: string) => Promise<void>;

/**
 * An upstream called: the task is looked at now, and what was said is not believed. Where the answer to the submission was lost, the
 * hint says which work to look for; the task is given it when the upstream knows it and no other task has it. Whatever comes again,
 * late or in another order changes nothing.
 */
export function callbackHandler(deps: Deps): HandleCallback {
  const looking = new Set<string>();
  return async (token, hint) => {
    const attempt = deps.callbacks.attemptOf(token);
    if (attempt === undefined)
      throw new Problem({ kind: 'not_found', reason: 'not_found', message: 'there is nothing at this address' });
    const task = await deps.store.find(attempt.taskId);
    if (task?.mapping === undefined || isTerminal(task.state)) return;
    if (task.admission === 'accepted' && (await deps.store.pollSoon(task.id, deps.clock.now())))
      deps.wake.polls(task.mapping.channel);
    if (task.admission !== 'unknown' || looking.has(task.id) || looking.size >= POLLS_MAX) return;
    looking.add(task.id);
    try {
      await findHinted(deps, task, attempt.number, hint);
    } finally {
      looking.delete(task.id);
    }
  };
}

async function findHinted(deps: Deps, { id: taskId, mapping }: Task, number: number, hint: string): Promise<void> {
  const runtime = runtimeOf(deps, mapping);
  if (runtime === undefined || hint === '' || hint.length > HINT_LENGTH_MAX) return;
  const { settings } = runtime.channel;
  // The address of an earlier attempt, which was refused, says nothing of the one whose answer was lost.
  if ((await deps.store.attempts(taskId)).at(-1)?.number !== number) return;
  if ((await deps.store.knownUpstreamIds(settings.upstreamAccount, [hint])).has(hint)) {
    deps.log.warn({ taskId, channel: settings.id }, 'a callback named the work of another task');
    return;
  }
  if (!runtime.polls.take()) return;
  const polled = await runtime.channel.poll(hint, AbortSignal.timeout(POLL_TIMEOUT_MS));
  if (!polled.found || !(await deps.store.adopt(taskId, hint, deps.clock.now()))) return;
  await deps.store.resolve(taskId, { ...RESOLVED_BY_SERVICE, at: deps.clock.now() });
  deps.log.info({ taskId, channel: settings.id }, 'a lost answer was found by a callback');
  deps.wake.polls(settings.id);
}

/** Where the work is. The same name may stand for another account since the configuration was taken anew; its ids mean nothing then. */
function runtimeOf({ channels }: Deps, mapping: Task['mapping']): ChannelRuntime | undefined {
  const runtime = channels.find(mapping?.channel ?? '');
  return runtime?.channel.settings.upstreamAccount === mapping?.upstreamAccount ? runtime : undefined;
}
