import { newTaskId } from '../random-ids.ts';
import type { Order } from '../vendor-order.ts';
import { Refusal } from '../vendor-refusal.ts';
import type { PictureOrder } from '../render/picture-order.ts';
import type { SandboxParts } from '../sandbox-parts.ts';
import type { Script } from '../steering/script.ts';
import type { Picture, Task } from '../task-life.ts';

/** Stores the task, queues its video and begins its callbacks. */
export async function acceptOrder(order: Order, script: Script, parts: SandboxParts): Promise<Task> {
  const task: Task = {
    id: newTaskId(),
    order,
    script,
    createdAt: parts.clock.now(),
    picture: planPicture(order, script),
    cancelledAt: undefined,
    reads: 0,
  };
  checkRoom(task.picture, parts);
  if (parts.book.find(task.id) !== undefined || !(await parts.book.add(task))) throw busy('too many tasks');
  if (isFollowed(task)) parts.announcer.follow(task.id);
  if (task.picture.state === 'awaited') void drawPicture(task.id, task.picture.order, parts);
  return task;
}

function isFollowed({ order, script }: Task): boolean {
  return order.callbackUrl !== undefined && script.pushes;
}

function planPicture(order: Order, { ending, recoverAfterMs }: Script): Picture {
  const succeeds = ending.as === 'succeeded' || (ending.as === 'other' && recoverAfterMs !== undefined);
  if (!succeeds || order.resolution === undefined) return { state: 'unneeded' };
  const { text, resolution, ratio, duration } = order;
  return {
    state: 'awaited',
    order: { prompt: text, resolution, ratio, seconds: duration, caption: writeCaption(order) },
  };
}

function writeCaption({ kind, roles }: Order): string {
  const counts = new Map<string, number>();
  for (const role of roles) counts.set(role, (counts.get(role) ?? 0) + 1);
  const media = [...counts].map(([role, count]) => `${count} ${role.replace('_', ' ')}${count > 1 ? 's' : ''}`);
  return `${kind} · ${media.length > 0 ? media.join(', ') : 'text only'}`;
}

function checkRoom(picture: Picture, { renders }: SandboxParts): void {
  if (picture.state === 'awaited' && !renders.hasRoomFor(picture.order)) throw busy('too many videos are waiting');
}

/** Continues the tasks from before a restart: draws the missing videos and continues the callbacks. */
export function resumeTasks(parts: SandboxParts): void {
  for (const task of parts.book.newestFirst().toReversed()) {
    if (isFollowed(task)) parts.announcer.follow(task.id);
    if (task.picture.state === 'awaited') void drawPicture(task.id, task.picture.order, parts);
  }
}

async function drawPicture(
  taskId: string,
  order: PictureOrder,
  { renders, book, clock, announcer, stopped, report }: SandboxParts,
): Promise<void> {
  try {
    await renders.render(order);
    book.change(taskId, { picture: { state: 'ready', order, at: clock.now() } });
  } catch (fault) {
    if (stopped.aborted) return;
    report(fault);
    book.change(taskId, { picture: { state: 'broken', at: clock.now() } });
  }
  announcer.check(taskId);
}

function busy(text: string): Refusal {
  return new Refusal({ http: 429, type: 'rate_limit_error', code: 1002, text: `${text}, please retry later` });
}
