import { expect, test } from '@jest/globals';
import { newActiveSet } from './active-set.ts';

test('contains the members that were added and not removed, for any order of removals', () => {
  const active = newActiveSet<{ readonly id: number }>();
  const remove = Array.from({ length: 100 }, (_, id) => active.add({ id }));
  const removed = [0, 99, 1, 98, 50, 51, 2, 97];
  for (const id of removed) remove[id]?.();
  for (const id of [100, 101]) active.add({ id });

  const ids = Array.from({ length: 102 }, (_, id) => id).filter((id) => !removed.includes(id));
  expect(
    active
      .all()
      .map(({ id }) => id)
      .toSorted((one, other) => one - other),
  ).toEqual(ids);
});

test('a second removal of a member removes no other member', () => {
  const active = newActiveSet<{ readonly name: string }>();
  const removeFirst = active.add({ name: 'first' });
  removeFirst();
  active.add({ name: 'second' });
  removeFirst();

  expect(active.all()).toEqual([{ name: 'second' }]);
});

test('a member that was added twice needs two removals', () => {
  const active = newActiveSet<object>();
  const member = {};
  const [remove] = [active.add(member), active.add(member)];
  remove();
  remove();

  expect(active.all()).toEqual([member]);
});

test('members may be removed while they are visited', () => {
  const active = newActiveSet<() => void>();
  let visited = 0;
  for (let id = 0; id < 10; id += 1) {
    const remove = active.add(() => {
      visited += 1;
      remove();
    });
  }
  for (const member of active.all()) member();

  expect([visited, active.all().length]).toEqual([10, 0]);
});
