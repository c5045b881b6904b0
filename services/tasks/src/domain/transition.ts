import type { State } from './task.ts';

/** What can happen to a task. */
export type Happening = 'waits' | 'runs' | 'succeeds' | 'fails';

/**
 * The only moves there are. A poll can miss the middle, so a queued task may end at once; an upstream may put running work back into
 * its queue, which is no move here; nothing leaves a final state.
 */
const MOVES: Readonly<Record<State, Readonly<Record<Happening, State>>>> = {
  queued: { waits: 'queued', runs: 'in_progress', succeeds: 'completed', fails: 'failed' },
  in_progress: { waits: 'in_progress', runs: 'in_progress', succeeds: 'completed', fails: 'failed' },
  completed: { waits: 'completed', runs: 'completed', succeeds: 'completed', fails: 'completed' },
  failed: { waits: 'failed', runs: 'failed', succeeds: 'failed', fails: 'failed' },
};

export function move(state: State, happening: Happening): State {
  return MOVES[state][happening];
}
