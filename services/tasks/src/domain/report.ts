import type { Failure, Usage, State } from './task.ts';

/**
 * The report of an upstream about its work, independent of its API. A success without a result counts as unfinished:
 * the upstream is polled again. `credential` is the authorization header that the URL of the result requires, if
 * any. `endedAt` is the time at which the work ended by the upstream's clock, in milliseconds since 1970; undefined
 * if the upstream does not report it.
 */
export type Report =
  | { readonly phase: 'queued' | 'running'; readonly status: string; readonly progress?: number | undefined }
  | {
      readonly phase: 'succeeded';
      readonly status: string;
      readonly url?: string | undefined;
      readonly credential?: { reveal(): string } | undefined;
      readonly prompt?: string | undefined;
      readonly usage?: Usage | undefined;
      readonly endedAt?: number | undefined;
    }
  | {
      readonly phase: 'failed';
      readonly status: string;
      readonly failure: Failure;
      readonly endedAt?: number | undefined;
    }
  | { readonly phase: 'unrecognised'; readonly status: string };

export type TaskEvent = 'waits' | 'runs' | 'succeeds' | 'fails';

/**
 * Every possible move. A queued task may end at once, because polls can miss the time in between. If an upstream puts
 * running work back into its queue, the task stays in_progress. No event leaves a final state.
 */
const MOVES: Readonly<Record<State, Readonly<Record<TaskEvent, State>>>> = {
  queued: { waits: 'queued', runs: 'in_progress', succeeds: 'completed', fails: 'failed' },
  in_progress: { waits: 'in_progress', runs: 'in_progress', succeeds: 'completed', fails: 'failed' },
  completed: { waits: 'completed', runs: 'completed', succeeds: 'completed', fails: 'completed' },
  failed: { waits: 'failed', runs: 'failed', succeeds: 'failed', fails: 'failed' },
};

export function move(state: State, event: TaskEvent): State {
  return MOVES[state][event];
}
