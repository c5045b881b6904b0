import { nothingBegun } from '@reelgate/platform/service-unavailable';
import { inSpan } from '@reelgate/platform/trace/in-span';
import type { Span } from '@reelgate/platform/trace/trace';
import { channelScope } from '../../domain/in-flight-scope.ts';
import { listMedia } from '../../domain/order.ts';
import type { BeginResult, NewTask } from '../../store/task-store.ts';
import { findObstacle } from '../attempts/submit-attempts.ts';
import type { Deps } from '../deps.ts';
import type { ResolvedOrder } from './resolve-order.ts';

const BEGIN = { attributes: { 'db.operation.name': 'INSERT', 'db.collection.name': 'tasks' } };

export interface BeginContext {
  readonly task: NewTask;
  readonly resolved: ResolvedOrder;
  readonly signal: AbortSignal | undefined;
  readonly span: Span;
}

/**
 * Writes the task. If only its hold stands before the submission, the first attempt starts with it, in the same
 * transaction: a submission needs the hold, so a recovery that finds no hold knows that nothing was sent. A failing
 * database may still have written the row. Then the sweep refuses it, because it has no hold.
 */
export async function beginCreate(
  deps: Pick<Deps, 'store'>,
  create: BeginContext,
): Promise<{ readonly begun: BeginResult; readonly task: NewTask }> {
  const attempt = chooseFirstAttempt(create.resolved);
  if (attempt !== undefined) {
    const task = { ...create.task, attempt };
    const begun = await writeNewTask(deps, create, task);
    const isChannelFull = typeof begun === 'object' && begun.capped === channelScope(attempt.channel);
    if (!isChannelFull) return { begun, task };
  }
  // A refusal for a full channel comes after one for the hold.
  return { begun: await writeNewTask(deps, create, create.task), task: create.task };
}

async function writeNewTask(
  { store }: Pick<Deps, 'store'>,
  { signal, span }: BeginContext,
  task: NewTask,
): Promise<BeginResult> {
  try {
    return await inSpan(span, 'tasks begin', BEGIN, () => store.begin(task, signal));
  } catch (error) {
    throw nothingBegun(error);
  }
}

/** The attempt on the first channel, unless media must be staged before it or the channel takes no submission now. */
function chooseFirstAttempt({ order, source, runtimes: [first] }: ResolvedOrder): NewTask['attempt'] {
  if (first === undefined || source !== undefined || listMedia(order).length > 0) return undefined;
  if (findObstacle(first) !== undefined) return undefined;
  const { id: channel, inFlightMax } = first.channel.settings;
  return { channel, inFlightMax };
}
