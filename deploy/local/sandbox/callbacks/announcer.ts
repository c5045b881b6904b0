import { deadline, type Clock } from '../clock.ts';
import { dial } from '../dial.ts';
import { callbackAnswerBytesMax, pushMsMax } from '../limits.ts';
import type { TaskBook } from '../task-book.ts';
import { isFinished, nextChangeAt, findPhase } from '../task-life.ts';
import { toWireTask, type LinkMaker } from '../task-view.ts';

/** Posts a task to its callback address whenever its status changes. */
export type Announcer = {
  /** Begins after the status that the address was told last. */
  follow(taskId: string): void;
  /** Checks the task at once, after a change that the passage of time did not cause. */
  check(taskId: string): void;
  stop(): void;
};

type FollowedTask = { status: string; forget: () => void; sent: Promise<void> };
type AnnouncerParts = {
  readonly clock: Clock;
  readonly book: TaskBook;
  readonly linkTo: LinkMaker;
  readonly stopped: AbortSignal;
};

export function announcer({ clock, book, linkTo, stopped }: AnnouncerParts): Announcer {
  const followed = new Map<string, FollowedTask>();

  const check = (taskId: string): void => {
    const known = followed.get(taskId);
    const task = book.find(taskId);
    if (known === undefined) return;
    known.forget();
    if (task === undefined || stopped.aborted) return void followed.delete(taskId);
    const now = clock.now();
    const phase = findPhase(task, now);
    if (phase.status !== known.status && task.order.callbackUrl !== undefined) {
      const url = task.order.callbackUrl;
      const json = { task: toWireTask(task, now, linkTo) };
      known.status = phase.status;
      book.change(taskId, { toldStatus: phase.status });
      known.sent = known.sent.then(() => push(url, json));
    }
    if (isFinished(phase)) return void followed.delete(taskId);
    const next = nextChangeAt(task, now);
    if (next !== undefined)
      known.forget = clock.after(next - now, () => {
        check(taskId);
      });
  };

  const push = async (url: string, json: unknown): Promise<void> => {
    const { signal, release } = deadline(clock, pushMsMax, stopped);
    // A post that does not arrive is lost: the vendor promises no second try.
    await dial({ method: 'POST', url, json, bytesMax: callbackAnswerBytesMax, signal }).catch(() => undefined);
    release();
  };

  return {
    check,
    follow: (taskId) => {
      const status = book.find(taskId)?.toldStatus ?? 'queued';
      followed.set(taskId, { status, forget: () => undefined, sent: Promise.resolve() });
      check(taskId);
    },
    stop: () => {
      for (const { forget } of followed.values()) forget();
      followed.clear();
    },
  };
}
