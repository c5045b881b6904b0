import { withTimeout } from '@reelgate/platform/clock';
import type { Problem } from '@reelgate/platform/problem';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import type { Span } from '@reelgate/platform/trace/trace';
import type { ChannelRuntime } from '../../channels/channel-registry.ts';
import type { CallbackReading, CallbackVerdict, UpstreamCallback } from '../../channels/channel.ts';
import { isTerminal } from '../../domain/task.ts';
import type { Mapping, Task } from '../../domain/task.ts';
import { workSpan } from '../tracing/work-span.ts';
import type { Deps } from '../deps.ts';
import { mayHaveOrdered } from '../recovery/reconcile-unknown.ts';
import { waitForPoll } from '../wait-for-poll.ts';
import { refuse } from '../../refusals.ts';

const HINT_LENGTH_MAX = 128;
/** Polls of hinted work that may run at once in this process. Beyond it, the list or a later call finds the work. */
const POLLS_MAX = 32;
const POLL_TIMEOUT_MS = 20_000;
/** The public keys of an upstream are read again after this time at the earliest. */
const KEYS_RETRY_MS = 60_000;
const RESOLVED_BY_SERVICE = { resolution: 'found', actor: 'service' };

/** `token` is the last part of the called path. `span` is the span of the call. */
export type HandleCallback = (token: string, callback: UpstreamCallback, span?: Span) => Promise<void>;

/**
 * Handles the call of an upstream. The call is not trusted; its only effect is that the task is due for a poll. A call
 * with a wrong signature is refused like a call at a wrong address, and counted. A call that cannot be checked is
 * refused for now, so that the upstream repeats it. If the answer to the submission was lost, the id in it names the
 * work to poll. The task adopts that work if the upstream knows it and lists it as the order of the task, and if no
 * other task has it. Without a list, the knowledge of the upstream is enough. Repeated, late and reordered calls have
 * no effect.
 */
export function callbackHandler(deps: Deps): HandleCallback {
  const searching = new Set<string>();
  return async (token, callback, span) => {
    const attempt = deps.callbacks.readAttempt(token);
    if (attempt === undefined) throw nothingThere();
    const task = await deps.store.find(attempt.taskId);
    if (task?.mapping === undefined || isTerminal(task.state)) return;
    const { signature, upstreamId: hint = '' } = await readCallback(deps, { ...task, mapping: task.mapping }, callback);
    deps.count.callback(task.mapping.channel, signature);
    assertMayCall(deps, signature, { taskId: task.id, channel: task.mapping.channel });
    if (task.admission === 'accepted' && (await deps.store.pollSoon(task.id, deps.clock.now()))) {
      deps.wake.polls(task.mapping.channel);
      traceCallback(deps, task, span?.carrier);
    }
    if (task.admission !== 'unknown' || searching.has(task.id) || searching.size >= POLLS_MAX) return;
    searching.add(task.id);
    try {
      if (await adoptHintedWork(deps, task, attempt.number, hint)) traceCallback(deps, task, span?.carrier);
    } finally {
      searching.delete(task.id);
    }
  };
}

/** Without its channel the call cannot be checked. */
async function readCallback(
  deps: Deps,
  { order, mapping }: Task & { readonly mapping: Mapping },
  callback: UpstreamCallback,
): Promise<CallbackReading> {
  const channel = findRuntime(deps, mapping)?.channel;
  return (
    (await channel?.readCallback(callback, channel.settings.models[order.model])) ?? {
      signature: 'unsigned',
      upstreamId: undefined,
    }
  );
}

function nothingThere(): Problem {
  return refuse('not_found', { message: 'there is nothing at this address' });
}

function assertMayCall({ log }: Deps, signature: CallbackVerdict, fields: object): void {
  if (signature === 'wrong') throw nothingThere();
  if (signature !== 'unchecked') return;
  log.warn(fields, 'a callback was refused: the public keys of the upstream cannot be read');
  throw serviceUnavailable(undefined, KEYS_RETRY_MS);
}

/** Callbacks come with a trace of their own, from a foreign service. A callback without an effect has no span here. */
function traceCallback(deps: Deps, task: Task, carrier: string | undefined): void {
  workSpan(deps, task, 'callback received', { kind: 'consumer', links: carrier === undefined ? [] : [carrier] }).end();
}

/** Returns whether the task adopted the work. */
async function adoptHintedWork(deps: Deps, task: Task, number: number, hint: string): Promise<boolean> {
  const { id: taskId } = task;
  const runtime = findRuntime(deps, task.mapping);
  if (runtime === undefined || hint === '' || hint.length > HINT_LENGTH_MAX) return false;
  const { settings } = runtime.channel;
  // The URL of an earlier, refused attempt does not identify the attempt that got no answer.
  if ((await deps.store.attempts(taskId)).at(-1)?.number !== number) return false;
  if ((await deps.store.findKnownUpstreamIds(settings.upstreamAccount, [hint])).has(hint)) {
    deps.log.warn({ taskId, channel: settings.id }, 'a callback names the work of another task');
    return false;
  }
  if (!(await waitForPoll(deps, runtime))) return false;
  const { channel } = runtime;
  const polled = await withTimeout(deps.clock, { ms: POLL_TIMEOUT_MS }, (signal) => channel.poll(hint, signal));
  if (!polled.found) return false;
  if (!(await mayHaveOrdered(deps, runtime, task, hint))) {
    deps.log.warn({ taskId, channel: settings.id }, 'a callback names work that is not listed as the order');
    return false;
  }
  if (!(await deps.store.adopt(taskId, hint, deps.clock.now()))) return false;
  await deps.store.resolve(taskId, { ...RESOLVED_BY_SERVICE, at: deps.clock.now() });
  deps.log.info({ taskId, channel: settings.id }, 'a callback named the work of a lost answer');
  deps.wake.polls(settings.id);
  return true;
}

/** The channel of the work. After a reload the same name may mean another upstream account, with other ids. */
function findRuntime({ channels }: Deps, mapping: Task['mapping']): ChannelRuntime | undefined {
  const runtime = channels.find(mapping?.channel ?? '');
  return runtime?.channel.settings.upstreamAccount === mapping?.upstreamAccount ? runtime : undefined;
}
