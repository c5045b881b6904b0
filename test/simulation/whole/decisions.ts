import { Resolution } from '@reelgate/proto/tasks/v1/operator_service';
import { CLIENT_DIALECTS, isFinal, readSeenTask } from './dialects.ts';
import type { SeenTask } from './dialects.ts';
import { REVOKED } from './simulated-config.ts';
import { sendOrder } from './world.ts';
import type { World } from './world.ts';

/** The name under which a run can do without them. */
export const DECISIONS = 'decisions';
const DECIDED = 0.8;
/** A decision is carried out, and its money moved, within this number of seconds. */
const CARRIED_OUT_S_MAX = 60;
const SECOND_MS = 1000;

/** A task that waits, as its client sees it. */
interface WaitingTask {
  readonly id: string;
  readonly order: string;
  readonly token: string;
  readonly before: SeenTask;
}

/**
 * In some seeds, a person decides at last over every task and call that waits. Returns whether none waits any more.
 */
export async function decideTasks(world: World): Promise<boolean> {
  const { draws, faults, machine, acts, events, scheduler } = world;
  if (faults.isLeftOut(DECISIONS) || !draws.happens(DECISIONS, DECIDED)) return false;
  const listWaiting = () => machine.call(({ channels }) => channels.listAttention({}), DECISIONS);
  const { items } = await listWaiting();
  for (const { taskId, isJob } of items) {
    const order = world.rules.findOrder(taskId);
    const waiting = isJob || order === undefined ? undefined : await readWaiting(world, taskId, order);
    const resolution = draws.pick(`decision over ${order ?? taskId}`, [Resolution.COMPLETED, Resolution.FAILED]);
    const decision = { taskId, resolution, actor: 'simulation', reason: 'a look at the upstream' };
    try {
      await machine.call(({ channels }) => channels.resolveAttention(decision), DECISIONS);
    } catch (error) {
      // it has ended meanwhile, or its money has moved
      events.write(scheduler.now(), 'operator', `a decision over ${taskId} is refused: ${String(error)}`);
      continue;
    }
    acts.note('a person decides');
    if (waiting !== undefined) await checkDecision(world, waiting, resolution === Resolution.COMPLETED);
  }
  return (await listWaiting()).items.length === 0;
}

/** Undefined if the client cannot read its task. */
async function readWaiting(world: World, id: string, order: string): Promise<WaitingTask | undefined> {
  const token = world.orders.find(order)?.caller.token;
  if (token === undefined || token === REVOKED.keys[0] || world.rules.isRemoving(id)) return undefined;
  const before = await readTask(world, { id, order, token });
  return before && { id, order, token, before };
}

async function readTask(
  world: World,
  { id, order, token }: Omit<WaitingTask, 'before'>,
): Promise<SeenTask | undefined> {
  const answer = await sendOrder(world, order, { method: 'GET', path: CLIENT_DIALECTS[0]!.read(id), key: token });
  return answer?.status === 200 ? readSeenTask(answer) : undefined;
}

/** A task that is given up costs nothing, and one that counts as done is charged. A task that has ended stays so. */
async function checkDecision(world: World, task: WaitingTask, isDone: boolean): Promise<void> {
  const { before, id, order } = task;
  const status = isFinal(before) ? before.status : isDone ? 'completed' : 'failed';
  let seen: SeenTask | undefined;
  for (let second = 1; second <= CARRIED_OUT_S_MAX; second += 1) {
    await world.scheduler.pause(SECOND_MS);
    seen = await readTask(world, task);
    if (seen?.status === status && (seen.charged !== undefined) === isDone) break;
  }
  if (seen === undefined) return;
  const found = `${id} of ${order}: ${seen.status}, charged ${seen.charged ?? 'nothing'}`;
  if (seen.status !== status) world.rules.break('a decision ends its task', found);
  if ((seen.charged !== undefined) !== isDone) world.rules.break('a decision moves the money of its task', found);
}
