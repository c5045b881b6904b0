import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from '@jest/globals';
import { inRequest } from '@reelgate/platform/request-context';
import { openDraws } from './draws.ts';
import { newProcess, openScheduler } from './scheduler.ts';

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

test('all microtasks and ticks of an event end before the next event', async () => {
  const scheduler = open();
  const ran: string[] = [];
  scheduler.after(1, scheduler.world, () => {
    void Promise.resolve()
      .then(() => Promise.resolve())
      .then(() => {
        ran.push('a microtask of the first event');
        process.nextTick(() => {
          ran.push('its tick');
          void Promise.resolve().then(() => ran.push('the microtask of its tick'));
        });
      });
  });
  scheduler.after(1, scheduler.world, () => ran.push('the second event'));

  await scheduler.run(() => ran.length === 4);

  expect(ran).toEqual(['a microtask of the first event', 'its tick', 'the microtask of its tick', 'the second event']);
});

test('an event runs in the asynchronous context of the moment in which it was added', async () => {
  const scheduler = open();
  const context = new AsyncLocalStorage<string>();
  const seen: unknown[] = [];
  const see = (): void => void seen.push(context.getStore());
  context.run('of the adder', () => scheduler.after(1, scheduler.world, see));
  scheduler.after(2, scheduler.world, see);

  await scheduler.run(() => seen.length === 2);

  expect(seen).toEqual(['of the adder', undefined]);
});

test('an event that throws ends the run, and no further event runs', async () => {
  const scheduler = open();
  const ran: string[] = [];
  scheduler.after(1, scheduler.world, () => {
    throw new Error('the first event failed');
  });
  scheduler.after(2, scheduler.world, () => ran.push('the second event'));

  await expect(scheduler.run(() => false)).rejects.toThrow('the first event failed');
  expect(ran).toEqual([]);
});

test('nothing of a process runs after its death', async () => {
  const scheduler = open();
  const process = newProcess('process');
  const ran: string[] = [];
  scheduler.after(1, process, () => {
    ran.push('before');
    void scheduler
      .openClock(process)
      .sleep(10)
      .then(() => ran.push('after a wait of the dead process'));
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

test('a process that stands still runs later, in its order, and the world goes on meanwhile', async () => {
  const scheduler = open();
  const process = newProcess('process');
  process.frozenUntil = scheduler.begin + 20;
  const ran: string[] = [];
  scheduler.after(1, process, () => ran.push(`first at ${scheduler.now() - scheduler.begin}`));
  scheduler.after(2, process, () => ran.push(`second at ${scheduler.now() - scheduler.begin}`));
  scheduler.after(3, process, () => ran.push('cancelled')).isCancelled = true;
  scheduler.after(5, scheduler.world, () => ran.push('the world'));

  await scheduler.run(() => ran.length === 3);

  expect(ran).toEqual(['the world', 'first at 20', 'second at 20']);
});

test('a choice of a request is named by the request, and that of other work by its process and moment', async () => {
  const scheduler = open();
  const process = newProcess('process-3', 'place-1');
  const names: string[] = [];
  const name = (): void => void names.push(scheduler.nameChoice('trip'));
  scheduler.after(1, process, () => {
    inRequest('order-4', name);
    inRequest('order-5', name);
    inRequest('order-4', name);
    name();
    name();
  });
  scheduler.after(250, process, name);

  await scheduler.run(() => names.length === 6);

  expect(names).toEqual([
    'order-4 trip 1',
    'order-5 trip 1',
    'order-4 trip 2',
    'place-1 trip at 0 1',
    'place-1 trip at 0 2',
    'place-1 trip at 2 1',
  ]);
});

test('of the choices of a window, only the first one has a name', async () => {
  const scheduler = open();
  const names: (string | undefined)[] = [];
  for (const ms of [10, 20, 110])
    scheduler.after(ms, scheduler.world, () => names.push(scheduler.nameFirst('sync', 100)));

  await scheduler.run(() => names.length === 3);

  expect(names).toEqual(['sync in 0', undefined, 'sync in 1']);
});
