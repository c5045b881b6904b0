import { expect, test } from '@jest/globals';
import { roster } from './active-set.ts';

test('holds those who came and have not left, however they leave', () => {
  const here = roster<{ readonly id: number }>();
  const leave = Array.from({ length: 100 }, (_, id) => here.add({ id }));
  const left = [0, 99, 1, 98, 50, 51, 2, 97];
  for (const id of left) leave[id]?.();
  for (const id of [100, 101]) here.add({ id });

  const ids = Array.from({ length: 102 }, (_, id) => id).filter((id) => !left.includes(id));
  expect(
    here
      .all()
      .map(({ id }) => id)
      .toSorted((one, other) => one - other),
  ).toEqual(ids);
});

test('who leaves twice takes nobody else out', () => {
  const here = roster<{ readonly name: string }>();
  const leaveFirst = here.add({ name: 'first' });
  leaveFirst();
  here.add({ name: 'second' });
  leaveFirst();

  expect(here.all()).toEqual([{ name: 'second' }]);
});

test('the same one can be in twice, and leaves once at a time', () => {
  const here = roster<object>();
  const one = {};
  const [leave] = [here.add(one), here.add(one)];
  leave();
  leave();

  expect(here.all()).toEqual([one]);
});

test('those who are asked may leave meanwhile', () => {
  const here = roster<() => void>();
  let asked = 0;
  for (let member = 0; member < 10; member += 1) {
    const leave = here.add(() => {
      asked += 1;
      leave();
    });
  }
  for (const member of here.all()) member();

  expect([asked, here.all().length]).toEqual([10, 0]);
});
