import { newToken } from './random-ids.ts';
import { deadline } from './sandbox-clock.ts';
import type { Clock, SandboxTime } from './sandbox-clock.ts';
import { dial } from './dial.ts';
import { callbackAnswerBytesMax, challengeMsMax, pushMsMax } from './limits.ts';
import { Refusal } from './vendor-refusal.ts';
import type { TaskBook } from './task-book.ts';
import { findPhase, isFinished, nextChangeAt } from './task-life.ts';
import { toWireTask } from './wire-task.ts';
import type { LinkMaker } from './wire-task.ts';

/** Posts a task to its callback address whenever its status changes. */
export type Announcer = {
  /** Begins after the last status that was sent to the address. */
  follow(taskId: string): void;
  /** Checks the task immediately, after a change that the passage of time did not cause. */
  check(taskId: string): void;
  stop(): void;
};

type FollowedTask = { status: string; forget: () => void; sent: Promise<void> };
type AnnouncerParts = SandboxTime & {
  readonly book: TaskBook;
  readonly linkTo: LinkMaker;
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
      book.change(taskId, { sentStatus: phase.status });
      known.sent = known.sent.then(() => push(url, json));
    }
    if (isFinished(phase)) return void followed.delete(taskId);
    const next = nextChangeAt(task, now);
    if (next !== undefined) known.forget = clock.after(next - now, () => check(taskId));
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
      const status = book.find(taskId)?.sentStatus ?? 'queued';
      followed.set(taskId, { status, forget: () => undefined, sent: Promise.resolve() });
      check(taskId);
    },
    stop: () => {
      for (const { forget } of followed.values()) forget();
      followed.clear();
    },
  };
}

/** Asks a callback address to echo a word. If the address does not echo it in time, the create is refused. */
export async function checkCallbackUrl(url: string, clock: Clock, stopped: AbortSignal): Promise<void> {
  const challenge = newToken();
  const { signal, release } = deadline(clock, challengeMsMax, stopped);
  try {
    const answer = await dial({ method: 'POST', url, json: { challenge }, bytesMax: callbackAnswerBytesMax, signal });
    if (answer.status === 200 && readEcho(answer.bytes) === challenge) return;
  } catch {
    // The vendor refuses an unreachable, a slow and an unreadable address in the same way.
  } finally {
    release();
  }
  throw new Refusal({ http: 400, type: 'bad_request_error', code: 2013, text: 'fail to check callback url' });
}

function readEcho(bytes: Buffer): unknown {
  const answer: unknown = JSON.parse(bytes.toString('utf8'));
  return typeof answer === 'object' && answer !== null && 'challenge' in answer ? answer.challenge : undefined;
}
