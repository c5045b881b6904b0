import { expect, test } from '@jest/globals';
import { plainScript } from './steering/script.ts';
import { taskBook, type TaskBook } from './task-book.ts';
import { memoryTaskStore } from './sandbox-task-store.ts';
import type { Task } from './task-life.ts';

function aTask(id: string, createdAt: number): Task {
  return {
    id,
    createdAt,
    script: plainScript,
    picture: { state: 'unneeded' },
    cancelledAt: undefined,
    reads: 0,
    order: {
      kind: 'h3_context_ir',
      model: 'm',
      text: '',
      roles: [],
      resolution: undefined,
      duration: 5,
      ratio: '16:9',
      inputSeconds: 0,
      inputAudioSeconds: 0,
      callbackUrl: undefined,
    },
  };
}

function bookOf({ now, max }: { readonly now: number; readonly max: number }): TaskBook {
  return taskBook({
    now: () => now,
    max,
    store: memoryTaskStore(),
    report: (fault) => {
      throw fault;
    },
  });
}

test('a full book drops its oldest finished task for a new task', async () => {
  const book = bookOf({ now: 10_000, max: 2 });
  await book.add(aTask('unfinished', 9900));
  await book.add(aTask('finished', 0));

  const added = await book.add(aTask('new', 10_000));

  expect([added, book.newestFirst().map(({ id }) => id)]).toEqual([true, ['new', 'unfinished']]);
});

test('a book full of unfinished tasks accepts no new task', async () => {
  const book = bookOf({ now: 0, max: 1 });
  await book.add(aTask('unfinished', 0));

  expect([await book.add(aTask('new', 0)), book.find('new')]).toEqual([false, undefined]);
});
