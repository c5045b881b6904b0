import { LRUCache } from 'lru-cache';
import { isRecent } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { Bus } from '@reelgate/platform/bus/bus';
import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import type { Span } from '@reelgate/platform/trace/trace';
import { isProblem } from '@reelgate/platform/problem';
import type { Problem } from '@reelgate/platform/problem';
import { isFinal } from '../clients/tasks-client.ts';
import type { Task, TaskRef, TasksClient } from '../clients/tasks-client.ts';
import { toTaskKey } from './task-changes.ts';

/** More than the one entry that is added at a time, so stale ones become fewer. */
const DROPPED_MAX = 2;

const DEADLINE_MS = 10_000;
/**
 * The time in milliseconds for which an answer stays valid without an announcement. A finished task changes by its deletion
 * alone, so its answer is valid for longer, but only as long as no announcement can have been lost.
 */
const FRESH_MS = { running: 1000, final: 120_000, absent: 1000 };
const WEIGHT_MAX = 256 * 1024 * 1024;
/** Measured with heap snapshots: 6.5 KB for a finished task and its body. */
const WEIGHT_OF_ONE = 6656;
/** The task's own, and one in the body of each dialect that reads show it in. */
const PROMPT_COPIES = 4;

export interface TaskReader {
  /**
   * Reads a task of its account, at most a second old: at once if it is cached. Refuses with a Problem if the task does
   * not exist.
   */
  read(task: TaskRef, requestId: string, span?: Span): MaybePromise<Task>;
  /** Makes the next read call the tasks service, and drops the answer of a call that is running. */
  forget(task: TaskRef): void;
}

/** The request that a task is read for. */
interface Call {
  readonly requestId: string;
  readonly span: Span | undefined;
}

type Answer = ({ readonly task: Task } | { readonly absent: Problem }) & {
  readonly at: number;
  readonly freshMs: number;
  /** The number of the connection to the bus when the task was asked for. */
  readonly connection: number | undefined;
};

/** Answers polls from memory: at most one call per task at a time, for any number of readers. */
export function cacheTaskReads(tasks: TasksClient, clock: Clock, bus: Pick<Bus, 'connection'>): TaskReader {
  const answers = new LRUCache<string, Answer>({ maxSize: WEIGHT_MAX, sizeCalculation: weigh });
  const pending = new Map<string, Promise<Task>>();

  const isFresh = ({ at, freshMs, connection }: Answer): boolean =>
    isRecent(clock, at, connection !== undefined && connection === bus.connection() ? freshMs : FRESH_MS.running);
  const fetchTask = async ({ accountId, taskId }: TaskRef, requestId: string, span?: Span): Promise<Answer> => {
    const connection = bus.connection();
    try {
      const { task } = await tasks.getTask({ accountId, taskId }, { timeoutMs: DEADLINE_MS, requestId, span });
      if (task === undefined) throw new Error('the tasks service answered without a task');
      return { task, at: clock.now(), freshMs: isFinal(task) ? FRESH_MS.final : FRESH_MS.running, connection };
    } catch (error) {
      if (!isProblem(error) || error.kind !== 'not_found') throw error;
      return { absent: error, at: clock.now(), freshMs: FRESH_MS.absent, connection };
    }
  };

  const start = (key: string, ref: TaskRef, { requestId, span }: Call): Promise<Task> => {
    const call: Promise<Task> = fetchTask(ref, requestId, span)
      .then((answer) => {
        if (pending.get(key) === call) {
          answers.set(key, answer);
          dropStale(answers, (cached) => !isFresh(cached));
        }
        return requireTask(answer);
      })
      .finally(() => {
        if (pending.get(key) === call) pending.delete(key);
      });
    pending.set(key, call);
    return call;
  };

  return {
    read: (ref, requestId, span) => {
      const key = toTaskKey(ref);
      const cached = answers.get(key);
      if (cached !== undefined && isFresh(cached))
        return 'absent' in cached ? Promise.reject(cached.absent) : cached.task;
      return pending.get(key) ?? start(key, ref, { requestId, span });
    },
    forget: (ref) => {
      answers.delete(toTaskKey(ref));
      pending.delete(toTaskKey(ref));
    },
  };
}

function requireTask(answer: Answer): Task {
  if ('absent' in answer) throw answer.absent;
  return answer.task;
}

/** Estimates the bytes that an answer takes. */
function weigh(answer: Answer): number {
  if ('absent' in answer) return WEIGHT_OF_ONE;
  const texts =
    answer.task.order?.content.reduce((sum, { item }) => sum + (item.case === 'text' ? item.value.length : 0), 0) ?? 0;
  return WEIGHT_OF_ONE + 2 * (texts + PROMPT_COPIES * (answer.task.result?.prompt.length ?? 0));
}

/**
 * Drops the least recently used entries that are stale. It runs whenever an entry is added, and so keeps the cache as
 * small as the set of tasks that are read; otherwise the cache would grow to its limit with entries that no read uses.
 */
export function dropStale<V extends object>(cache: LRUCache<string, V>, isStale: (value: V) => boolean): void {
  for (let dropped = 0; dropped < DROPPED_MAX; dropped += 1) {
    const { value: key } = cache.rkeys().next();
    const oldest = key === undefined ? undefined : cache.peek(key);
    if (key === undefined || oldest === undefined || !isStale(oldest)) return;
    cache.delete(key);
  }
}
