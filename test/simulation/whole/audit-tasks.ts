import { parseAmount } from '@reelgate/billing/domain/money';
import { CLIENT_DIALECTS, readSeenTask } from './dialects.ts';
import type { SeenTask } from './dialects.ts';
import { REVOKED } from './simulated-config.ts';
import { sendOrder } from './world.ts';
import type { World } from './world.ts';
import type { PromisedTask } from './rules/seen-tasks.ts';
import type { OrderedVideo } from './orders.ts';

/** A request that is lost or refused by a limit is sent again this many times. */
const TRIES_MAX = 8;
const RETRY_MS = 2000;

/** At the end of a run, each client reads what became of its orders: the task, its label, its charge and its result. */
export async function auditTasks(world: World): Promise<void> {
  for (const promised of world.rules.list()) {
    const video = world.orders.find(promised.order);
    if (video === undefined || video.caller.token === REVOKED.keys[0]) continue;
    await auditTask(world, promised, video);
  }
}

async function auditTask(world: World, { id, order }: PromisedTask, video: OrderedVideo): Promise<void> {
  const { rules, scheduler, acts } = world;
  const [dialect] = CLIENT_DIALECTS;
  const sentAt = scheduler.now();
  const answer = await readAgain(world, order, dialect!.read(id), video.caller.token);
  if (answer?.status === 404) {
    rules.missing(id);
    return;
  }
  if (answer?.status !== 200) return;
  const task = readSeenTask(answer);
  rules.read('openai', task, sentAt);
  rules.found(id, sentAt, answer.process);
  if ((task.label ?? '') !== video.label)
    rules.break('a task keeps the label of its order', `${id} of ${order} has ${task.label ?? 'none'}`);
  else if (video.label !== '') acts.note('a label is kept');
  if (task.status === 'completed') await auditResult(world, { id, order }, { task, video });
}

/** Reads the charge and the result of a completed task. */
async function auditResult(
  world: World,
  { id, order }: Pick<PromisedTask, 'id' | 'order'>,
  { task, video }: { readonly task: SeenTask; readonly video: OrderedVideo },
): Promise<void> {
  const { rules } = world;
  const charged = task.charged === undefined ? undefined : parseAmount(task.charged);
  if (charged !== undefined && video.maxNanos !== undefined && charged > video.maxNanos)
    rules.break('a charge is within the bound of its order', `${id} of ${order} is charged ${task.charged ?? ''}`);
  const content = await readAgain(world, `${order} content`, `/v1/videos/${id}/content`, video.caller.token);
  // a removal that was interrupted may have taken the result
  if (content?.status !== 200 && !rules.isRemoving(id))
    rules.break('a completed task keeps its result', `${id} of ${order}: ${content?.status ?? 'no answer'}`);
}

async function readAgain(world: World, name: string, path: string, key: string): ReturnType<typeof sendOrder> {
  for (let tries = 1; ; tries += 1) {
    const answer = await sendOrder(world, name, { method: 'GET', path, key });
    const isFinal = answer !== undefined && answer.status < 500 && answer.status !== 429;
    if (isFinal || tries === TRIES_MAX) return answer;
    await world.scheduler.pause(RETRY_MS);
  }
}
