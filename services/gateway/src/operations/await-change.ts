import { isRecent } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import { isFinal, standingOf } from '../clients/tasks-client.ts';
import type { Span } from '@reelgate/platform/trace/trace';
import type { Task, TaskRef } from '../clients/tasks-client.ts';
import type { TaskReader } from './read-task.ts';
import type { TaskChanges } from './task-changes.ts';

export interface AwaitChangeDeps {
  readonly clock: Clock;
  readonly reader: TaskReader;
  readonly changes: TaskChanges;
}

export interface Waiting {
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
  { task: ref, ms, requestId, span, gone }: Waiting,
): Promise<Task> {
  let nap = new AbortController();
  let missed = false;
  const watch = changes.watch(ref, (carrier) => {
    missed = true;
    span?.link(carrier);
    nap.abort();
  });
  try {
    const from = clock.now();
    let task = await reader.read(ref, requestId, span);
    const standing = standingOf(task);
    while (!isFinal(task) && standingOf(task) === standing && isRecent(clock, from, ms) && !gone.aborted) {
      nap = new AbortController();
      if (!missed) await clock.sleep(from + ms - clock.now(), AbortSignal.any([nap.signal, gone]));
      missed = false;
      task = await reader.read(ref, requestId, span);
    }
    return task;
  } finally {
    watch.close();
  }
}
