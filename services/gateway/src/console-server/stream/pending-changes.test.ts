import { expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { pendingChanges } from './follow-changes.ts';

const note = (ids: number) => {
  const pending = pendingChanges(fakeClock());
  for (let id = 0; id < ids; id += 1) pending.note('tasks', String(id));
  return pending;
};

test('a page that reads nothing costs the memory of 100 ids of each topic; with more it reads all of the topic', () => {
  expect([note(100), note(101), note(10_000)].map((pending) => pending.take()[0]?.ids.length)).toEqual([100, 0, 0]);
});

test('once unknown objects have changed, later ids do not narrow that down', () => {
  const pending = note(0);
  pending.note('tasks');
  pending.note('tasks', 'task_1');

  expect([pending.take(), pending.take()]).toEqual([[{ topic: 'tasks', ids: [] }], []]);
});

test('a change of anything stands for every other', () => {
  const pending = note(3);
  pending.note('all');

  expect(pending.take()).toEqual([{ topic: 'all', ids: [] }]);
});
