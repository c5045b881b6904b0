import type { State } from './task.ts';

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
