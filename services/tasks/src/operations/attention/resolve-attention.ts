import { timestampMs } from '@bufbuild/protobuf/wkt';
import { isProblem } from '@reelgate/platform/problem';
import type { Problem } from '@reelgate/platform/problem';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { Resolution as WireResolution } from '@reelgate/proto/tasks/v1/operator_service';
import { isTerminal } from '../../domain/task.ts';
import type { Task } from '../../domain/task.ts';
import type { PersonDecision } from '../../store/finish.ts';
import type { Job } from '../../store/job-store.ts';
import type { ActStore } from '../../store/operator-store.ts';
import type { Deps } from '../deps.ts';
import { endTask, describeWork } from '../ends/end-task.ts';
import type { JobDeps } from '../jobs/job-deps.ts';
import { taskNotFound } from '../task-refusals.ts';
import { refuse } from '../../refusals.ts';

const MONEY: Readonly<Record<Exclude<Resolution, 'retry'>, 'charged' | 'released'>> = {
  completed: 'charged',
  failed: 'released',
};

/** A decision is the last act over its subject, or one of the last few. */
const ACTS_READ = 20;

export type Resolution = EnumWord<typeof WireResolution>;

/** The decision of a person, with the person's name and the reason, which is empty if no reason was given. */
export interface Decision {
  readonly resolution: Resolution;
  readonly actor: string;
  readonly reason: string;
}

const BY_OPERATOR = { code: 'operator', message: 'the task was ended by the operator; nothing was charged' };

type CarryOut = (deps: Deps, task: Task, by: PersonDecision) => Promise<boolean>;

/**
 * Each returns whether the decision was the one that counts. The end of a task and the act over it are written
 * together.
 */
const UNFINISHED: Readonly<Record<Resolution, CarryOut>> = {
  completed: (deps, task, decision) =>
    endTask(deps, task, { state: 'completed', at: deps.clock.now(), usage: task.usage, decision }),
  failed: (deps, task, decision) =>
    endTask(deps, task, { state: 'failed', at: deps.clock.now(), failure: BY_OPERATOR, causedBy: 'us', decision }),
  retry: async (deps, task, decision) => {
    await deps.store.makeDue(task.id, deps.clock.now());
    deps.wake.polls(task.mapping?.channel ?? '');
    return deps.store.resolve(task.id, { ...decision, at: deps.clock.now() });
  },
};

/**
 * For a finished task only its money is open. It comes before the act, because no later pass would retry it, and moves
 * once: repeating it is harmless, and another decision over it is refused.
 */
const FINISHED: Readonly<Record<Resolution, (deps: Deps, task: Task) => Promise<void>>> = {
  completed: async (deps, task) => {
    const settled = await deps.billing.settle(task.id, task.usage, { confirmed: true, ...describeWork(task) });
    if (settled === 'released') throw alreadySettled(settled);
  },
  failed: async (deps, task) => {
    const settled = await deps.billing.releaseHold(task.id, describeWork(task));
    if (settled === 'charged') throw alreadySettled(settled);
  },
  retry: async (deps, task) => {
    if ((await deps.billing.settle(task.id, task.usage, describeWork(task))) === 'deferred')
      throw refuse('still_deferred');
  },
};

const notWaiting = (): Problem => refuse('not_in_attention');

/** Refuses a decision over money that another decision has moved. */
function alreadySettled(settled: 'charged' | 'released'): Problem {
  const message = {
    charged: 'the work was charged already; decide as completed',
    released: 'the hold was released already; decide as failed',
  };
  return refuse('already_settled', { message: message[settled] });
}

/** Carries out a person's decision, and records the person. */
export async function resolveAttention(
  deps: Deps,
  taskId: string,
  { resolution, actor, reason }: Decision,
): Promise<Task> {
  const task = await deps.store.find(taskId);
  if (task === undefined) throw taskNotFound();
  if (!(await deps.store.isWaiting(taskId))) throw notWaiting();
  const by = { resolution, actor, why: reason };
  if (isTerminal(task.state)) await FINISHED[resolution](deps, task);
  const counts = isTerminal(task.state)
    ? await deps.store.resolve(taskId, { ...by, at: deps.clock.now() })
    : await UNFINISHED[resolution](deps, task, by);
  if (!counts) throw notWaiting();
  return (await deps.store.find(taskId)) ?? task;
}

/**
 * Carries out a person's decision over a job with an unknown outcome. The job stays failed, because its answer is lost.
 * The decision says whether the call took place, and so whether it is charged.
 */
export async function resolveJob(
  { attention, calls, clock }: JobDeps,
  job: Job,
  { resolution, actor, reason }: Decision,
): Promise<void> {
  if (resolution === 'retry') throw refuse('job_not_retried');
  if (!(await attention.isWaiting(job.id))) throw notWaiting();
  const ended = await calls.end(job.id, MONEY[resolution]);
  if (ended !== MONEY[resolution]) throw alreadySettled(ended);
  if (!(await attention.resolve(job.id, { resolution, actor, why: reason, at: clock.now() }))) throw notWaiting();
}

/**
 * Returns the time at which the person made the same decision before, so that a person who never saw the answer can
 * decide again. Throws if another decision was made, or if no decision is recorded.
 */
export async function readSameDecision(
  acts: ActStore,
  id: string,
  { resolution, actor, reason }: Decision,
  refusal: unknown,
): Promise<number> {
  if (!isProblem(refusal, 'not_in_attention')) throw refusal;
  const made = await acts.acts({ subject: id }, { limit: ACTS_READ });
  const last = made.find(({ action }) => action === 'attention_resolved');
  if (last?.at === undefined) throw refusal;
  const { resolution: decided } = JSON.parse(last.detailJson) as { readonly resolution: string };
  if (last.actor === actor && last.reason === reason && decided === resolution) return timestampMs(last.at);
  const message = `${last.actor} has decided it as ${decided}${last.reason === '' ? '' : `: ${last.reason}`}`;
  throw refuse('not_in_attention', { message, cause: refusal });
}
