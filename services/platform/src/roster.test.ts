import { expect, test } from '@jest/globals';
import { roster } from './roster.ts';

test('holds those who came and have not left, however they leave', () => {
  const here = roster<number>();
  const leave = Array.from({ length: 100 }, (_, member) => here.add(member));
  const left = [0, 99, 1, 98, 50, 51, 2, 97];
  for (const member of left) leave[member]?.();

  expect([...here.all()].toSorted((one, other) => one - other)).toEqual(Array.from({ length: 100 }, (_, member) => member).filter((member) => !left.includes(member)));
});

test('who leaves twice takes nobody else out', () => {
  const here = roster<string>();
  const leaveFirst = here.add('first');
  leaveFirst();
  here.add('second');
  leaveFirst();

  expect(here.all()).toEqual(['second']);
});

test('the same one can be in twice, and leaves once at a time', () => {
  const here = roster<string>();
  const [leave] = [here.add('one'), here.add('one')];
  leave();

  expect(here.all()).toEqual(['one']);
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
