import { NOT_AWAITED, withTimeout } from '@reelgate/platform/clock';
import type { NextDue } from '@reelgate/platform/lifecycle/worker';
import { settleTask } from '../operations/ends/end-task.ts';
import { inTask, inWorkSpan } from '../operations/tracing/work-span.ts';
import type { Deps } from '../operations/deps.ts';
import { SETTLED_MAX } from '../store/task-store.ts';
import type { UnsettledTask } from '../store/task-store.ts';

/** The time in milliseconds that the event of a finished task has to settle it first. */
const EVENT_HEAD_START_MS = 3000;
/** The time in milliseconds for which a pass waits for its settlements. */
const PASS_MS = 1000;
/** The most settlements in progress. It exceeds one pass, so unanswered settlements cannot block a pass. */
const UNDER_WAY_MAX = 5 * SETTLED_MAX;
/** After this many failures further ones have no span. */
const SPANS_MAX = 8;
const BACKOFF_FIRST_MS = 1000;
const BACKOFF_MAX_MS = 5 * 60_000;
const BACKOFF_DOUBLINGS_MAX = 10;

/** The settlements under way, by task. Those that outlast their pass stay here until they end. */
export type SlowSettlements = Map<string, Promise<void>>;

/**
 * Runs one pass over finished tasks that are not settled. A settlement that fails waits longer each time, and a
 * settlement without an answer outlasts its pass, so neither blocks the others. One statement marks the settled tasks
 * of the pass: if it is lost, they are settled again, without effect. Returns how many tasks were settled.
 */
export async function settleFinished(deps: Deps, slow: SlowSettlements = new Map()): Promise<number> {
  const tasks = await listTasksToSettle(deps, slow);
  const ended = await findEnded(deps, tasks);
  const settled: string[] = [];
  let isOver = false;
  const settleOne = async (task: UnsettledTask): Promise<void> => {
    if (!(await inTask(task, () => (ended.has(task.id) ? confirm(deps, task) : trySettle(deps, task))))) return;
    if (isOver) await markSettled(deps, [task.id]);
    else settled.push(task.id);
  };
  const works = tasks.map((task) => {
    const work = settleOne(task)
      .catch((error: unknown) =>
        deps.log.error({ taskId: task.id, err: error }, 'the outcome of a settlement could not be written'),
      )
      .finally(() => slow.delete(task.id));
    slow.set(task.id, work);
    return work;
  });
  await waitForSettlements(deps, works);
  isOver = true;
  if (settled.length > 0) await markSettled(deps, settled);
  return settled.length;
}

/**
 * The moment at which the next settlement is due, undefined while settlements are under way. A task that ends in the
 * meantime is due later.
 */
export async function findNextSettlement({ store, clock }: Deps, slow: SlowSettlements): Promise<NextDue | undefined> {
  if (slow.size > 0) return undefined;
  const now = clock.now();
  const first = (await store.findFirstUnsettled()) ?? Infinity;
  return { dueAt: Math.min(first, now) + EVENT_HEAD_START_MS + 1 };
}

async function markSettled({ store, clock, count }: Deps, taskIds: readonly string[]): Promise<void> {
  await store.markSettled(taskIds, clock.now());
  count.settled(taskIds.length);
}

/** The tasks to settle now, without tasks that are being settled. */
async function listTasksToSettle({ store, clock }: Deps, slow: SlowSettlements): Promise<readonly UnsettledTask[]> {
  const now = clock.now();
  const found = await store.listUnsettled({
    before: now - EVENT_HEAD_START_MS,
    beyond: now + BACKOFF_MAX_MS,
    limit: SETTLED_MAX + slow.size,
  });
  return found.filter(({ id }) => !slow.has(id)).slice(0, Math.min(SETTLED_MAX, UNDER_WAY_MAX - slow.size));
}

/** Waits for the settlements, for the time of a pass at most. */
async function waitForSettlements({ clock }: Deps, works: readonly Promise<void>[]): Promise<void> {
  const ended = new AbortController();
  await Promise.race([Promise.all(works), clock.sleep(PASS_MS, ended.signal)]);
  ended.abort(NOT_AWAITED);
}

const CONFIRM = { name: 'confirm settlement' };

/**
 * Finds the tasks that their events have already settled, with one call per pass. Most are. Without an answer, billing
 * is asked about each on its own. A refused create has more to undo than its hold.
 */
async function findEnded({ billing, clock, log }: Deps, tasks: readonly UnsettledTask[]): Promise<ReadonlySet<string>> {
  const ids = tasks.flatMap(({ id, admission }) => (admission === 'refused' ? [] : [id]));
  if (ids.length < 2) return new Set();
  return withTimeout(clock, { ms: PASS_MS }, (signal) => billing.findEnded(ids, { signal })).catch((error: unknown) => {
    log.warn({ err: error }, 'billing did not say which tasks are settled, so each is settled on its own');
    return new Set();
  });
}

async function confirm(deps: Deps, task: UnsettledTask): Promise<true> {
  await inWorkSpan(deps, task, CONFIRM, async () => {
    deps.log.info({ taskId: task.id, state: task.state }, 'a task was settled by its event');
  });
  return true;
}

async function trySettle(deps: Deps, task: UnsettledTask): Promise<boolean> {
  try {
    const traced = task.settleFailures < SPANS_MAX ? task : { ...task, trace: undefined };
    await inWorkSpan(deps, traced, CONFIRM, (span) => settleTask(deps, task, span));
    return true;
  } catch (error) {
    deps.log.error(
      { taskId: task.id, failures: task.settleFailures + 1, err: error },
      'a finished task could not be settled',
    );
    await deps.store.putOffSettlement(
      task.id,
      deps.clock.now() - EVENT_HEAD_START_MS + settleBackoff(task.settleFailures),
    );
    return false;
  }
}

function settleBackoff(failures: number): number {
  return Math.min(BACKOFF_MAX_MS, BACKOFF_FIRST_MS * 2 ** Math.min(failures, BACKOFF_DOUBLINGS_MAX));
}
