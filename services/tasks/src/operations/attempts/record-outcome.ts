import type { ChannelSettings, Submission } from '../../channels/channel.ts';
import { takeOrigin } from '../../domain/task.ts';
import type { Mapping, Task, TaskOrigin } from '../../domain/task.ts';
import { raiseAttention } from '../ends/raise-attention.ts';
import type { Deps } from '../deps.ts';

const TRIES_MAX = 60;
const RETRY_MS = 500;
const ID_KNOWN = 'the upstream answered with the id of work that belongs to another task';

/** An upstream may have accepted the order, and the store could not record it. */
export class UncertainOutcome extends Error {
  override readonly name = 'UncertainOutcome';
}

/**
 * Writes the outcome of an attempt, and retries for half a minute while the database is away. After that, a refusal may
 * be given up. Any other outcome is uncertain, because the upstream may have the work.
 */
export async function recordOutcome(
  deps: Deps,
  task: TaskOrigin,
  attempt: RecordedAttempt,
  submission: Submission,
): Promise<Task | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await writeOutcome(deps, task, attempt, submission);
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

interface RecordedAttempt {
  readonly settings: ChannelSettings;
  readonly number: number;
  /** Writes that the upstream refused it. */
  readonly refuse: (error: string, refusal: Extract<Submission, { outcome: 'refused' }>) => Promise<void>;
}

async function writeOutcome(
  deps: Deps,
  task: TaskOrigin,
  { settings: { id: channel, upstreamAccount }, number, refuse }: RecordedAttempt,
  submission: Submission,
): Promise<Task | undefined> {
  const at = deps.clock.now();
  const leaveUnknown = (error: string): Promise<Task | undefined> =>
    deps.store.leaveUnknown(task.id, { number, mapping: { channel, upstreamAccount }, error, at });
  if (submission.outcome === 'unknown') return leaveUnknown(submission.error);
  if (submission.outcome === 'refused') {
    await refuse(submission.error, submission);
    return undefined;
  }
  // First polls are as far apart as their creates were. Random times would be written all over the index of due times.
  const nextPollAt = at + deps.pollPlan.firstMs;
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

/**
 * The task as its acceptance has written it, without its staged media. It is not read again: before its acceptance,
 * only its create changes it.
 */
export function toAcceptedTask(
  task: TaskOrigin,
  {
    mapping,
    at,
    nextPollAt,
  }: { readonly mapping: Required<Mapping>; readonly at: number; readonly nextPollAt: number },
): Task {
  return {
    ...takeOrigin(task),
    admission: 'accepted',
    state: 'queued',
    unrecognised: false,
    progress: 0,
    updatedAt: at,
    mapping,
    nextPollAt,
    pollErrors: 0,
    polls: 0,
    pollSpans: 0,
    resumed: false,
  };
}

/** Announces and counts that the owner of a task can see it from now on: an upstream has accepted it, or may have. */
export function showTask({ announce, count }: Deps, task: Task): void {
  announce(task);
  count.created(task);
}
