import { isRecent } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import type { Semaphore } from '@reelgate/platform/limits/semaphore';
import { isFinal, toStateKey } from '../clients/tasks-client.ts';
import type { Span } from '@reelgate/platform/trace/trace';
import type { Task, TaskRef } from '../clients/tasks-client.ts';
import type { TaskReader } from './read-task.ts';
import type { TaskChanges } from './task-changes.ts';

export interface AwaitChangeDeps {
  readonly clock: Clock;
  readonly reader: TaskReader;
  readonly changes: TaskChanges;
}

export interface WaitForChange {
  readonly task: TaskRef;
  readonly ms: number;
  readonly requestId: string;
  readonly span?: Span | undefined;
  /** Aborted when the client leaves or the gateway stops. */
  readonly gone: AbortSignal;
}

/**
 * Waits until the state of a task changes, the task is final or the time is over, and then reads it. Events end the
 * wait early; a lost event only makes it longer.
 */
export async function awaitChange(
  { clock, reader, changes }: AwaitChangeDeps,
  { task: ref, ms, requestId, span, gone }: WaitForChange,
): Promise<Task> {
  let wakeUp = new AbortController();
  let missed = false;
  const watch = changes.watch(ref, (carrier) => {
    missed = true;
    span?.link(carrier);
    wakeUp.abort();
  });
  try {
    const from = clock.now();
    let task = await reader.read(ref, requestId, span);
    const stateKey = toStateKey(task);
    while (!isFinal(task) && toStateKey(task) === stateKey && isRecent(clock, from, ms) && !gone.aborted) {
      wakeUp = new AbortController();
      if (!missed) await clock.sleep(from + ms - clock.now(), AbortSignal.any([wakeUp.signal, gone]));
      missed = false;
      task = await reader.read(ref, requestId, span);
    }
    return task;
  } finally {
    watch.close();
  }
}

const WAITS_MAX = 10_000;

export type WaitPermits = Semaphore;

/** Bounds the reads that wait for a change. A read without a permit is answered at once. */
export function openWaitPermits(): WaitPermits {
  return newSemaphore({ permits: WAITS_MAX, waitingMax: 0 });
}
