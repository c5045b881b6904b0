import { expect, test } from '@jest/globals';
import { openDraws } from './draws.ts';
import { openScheduler } from './scheduler.ts';

const open = () => openScheduler({ draws: openDraws(1), hasLateTimers: false });

test('events run in the order of their times, and those of one moment in the order in which they were added', async () => {
  const scheduler = open();
  const ran: string[] = [];
  for (const [name, ms] of [
    ['c', 20],
    ['a', 5],
    ['b', 20],
    ['d', 7],
  ] as const)
    scheduler.after(ms, scheduler.world, () => ran.push(`${name} ${scheduler.now() - scheduler.begin}`));

  await scheduler.run(() => ran.length === 4);

  expect(ran).toEqual(['a 5', 'd 7', 'c 20', 'b 20']);
});

test('all microtasks of an event end before the next event', async () => {
  const scheduler = open();
  const ran: string[] = [];
  scheduler.after(1, scheduler.world, () => {
    void Promise.resolve()
      .then(() => Promise.resolve())
      .then(() => ran.push('a microtask of the first event'));
  });
  scheduler.after(1, scheduler.world, () => ran.push('the second event'));

  await scheduler.run(() => ran.length === 2);

  expect(ran).toEqual(['a microtask of the first event', 'the second event']);
});

test('nothing of a process runs after its death', async () => {
  const scheduler = open();
  const process = { name: 'process', isAlive: true };
  const ran: string[] = [];
  scheduler.after(1, process, () => {
    ran.push('before');
    void scheduler.clock.sleep(10).then(() => ran.push('after a wait of the dead process'));
  });
  scheduler.after(5, process, () => ran.push('after'));
  scheduler.after(3, scheduler.world, () => {
    process.isAlive = false;
  });
  scheduler.after(50, scheduler.world, () => ran.push('the world goes on'));

  await scheduler.run(() => ran.length === 2);

  expect(ran).toEqual(['before', 'the world goes on']);
});

test('a program that runs without end while its clock stands still is found', async () => {
  const scheduler = open();
  const again = (): void => void scheduler.after(0, scheduler.world, again);
  again();

  await expect(scheduler.run(() => false)).rejects.toThrow('its clock stands still');
});
