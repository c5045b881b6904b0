import type { ChannelSettings, Submission } from '../../channels/channel.ts';
import { pollInterval } from '../../domain/poll-interval.ts';
import type { Task } from '../../domain/task.ts';
import type { NewTask } from '../../store/task-store.ts';
import { toAcceptedTask } from './accepted-task.ts';
import { raiseAttention } from '../attention/raise-attention.ts';
import type { Deps } from '../deps.ts';

const TRIES_MAX = 60;
const RETRY_MS = 500;
const ID_KNOWN = 'the upstream answered with the id of work that belongs to another task';

/** An upstream may have accepted the order, and the store could not record it. */
export class UncertainOutcome extends Error {
  override readonly name = 'UncertainOutcome';
}

export interface AttemptTarget {
  readonly settings: Pick<ChannelSettings, 'id' | 'upstreamAccount'>;
  readonly number: number;
}

/**
 * Writes the outcome of an attempt, and retries for half a minute while the database is away. After that, a refusal may
 * be given up. Any other outcome is uncertain, because the upstream may have the work.
 */
export async function recordOutcome(
  deps: Deps,
  task: NewTask,
  attempt: AttemptTarget,
  submission: Submission,
): Promise<Task | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await record(deps, task, attempt, submission);
    } catch (error) {
      deps.log.error({ taskId: task.id, tries, err: error }, 'the outcome of an attempt could not be written');
      if (tries >= TRIES_MAX)
        throw submission.outcome === 'refused'
          ? error
          : new UncertainOutcome('the outcome of an attempt could not be written', { cause: error });
      await deps.clock.sleep(RETRY_MS);
    }
  }
}

async function record(
  deps: Deps,
  task: NewTask,
  { settings: { id: channel, upstreamAccount }, number }: AttemptTarget,
  submission: Submission,
): Promise<Task | undefined> {
  const at = deps.clock.now();
  const leaveUnknown = (error: string): Promise<Task | undefined> =>
    deps.store.leaveUnknown(task.id, { number, mapping: { channel, upstreamAccount }, error, at });
  if (submission.outcome === 'unknown') return leaveUnknown(submission.error);
  if (submission.outcome === 'refused') {
    await deps.store.refuseAttempt(task.id, { number, channel, error: submission.error, at });
    return undefined;
  }
  const nextPollAt = at + pollInterval(deps.pollPlan, 0, deps.chance());
  const accepting = {
    number,
    mapping: { channel, upstreamAccount, upstreamId: submission.upstreamId },
    at,
    nextPollAt,
  };
  const taken = await deps.store.accept(task.id, accepting);
  if (taken === 'accepted') return toAcceptedTask(task, accepting);
  if (taken === undefined) return undefined;
  const unknownTask = await leaveUnknown(ID_KNOWN);
  await raiseAttention(deps, task, 'unknown_outcome', ID_KNOWN);
  return unknownTask;
}
