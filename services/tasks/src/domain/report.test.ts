import fc from 'fast-check';
import { expect, test } from '@jest/globals';
import { isTerminal } from './task.ts';
import type { State } from './task.ts';
import { move } from './report.ts';
import type { TaskEvent } from './report.ts';

const states = fc.constantFrom<State[]>('queued', 'in_progress', 'completed', 'failed');
const events = fc.array(fc.constantFrom<TaskEvent[]>('waits', 'runs', 'succeeds', 'fails'));

test('no event changes a terminal state', () => {
  fc.assert(
    fc.property(states, events, (first, all) => {
      let state = first;
      for (const event of all) {
        const next = move(state, event);
        if (isTerminal(state)) expect(next).toBe(state);
        state = next;
      }
    }),
  );
});

test('work that has started never returns to the queue', () => {
  fc.assert(
    fc.property(events, (all) => {
      expect(all.reduce(move, 'in_progress')).not.toBe('queued');
    }),
  );
});

test.each<[State, TaskEvent, State]>([
  ['queued', 'waits', 'queued'],
  ['queued', 'runs', 'in_progress'],
  ['queued', 'succeeds', 'completed'],
  ['queued', 'fails', 'failed'],
  ['in_progress', 'waits', 'in_progress'],
  ['in_progress', 'runs', 'in_progress'],
  ['in_progress', 'succeeds', 'completed'],
  ['in_progress', 'fails', 'failed'],
])('a %s task that %s is %s', (state, event, next) => {
  expect(move(state, event)).toBe(next);
});
