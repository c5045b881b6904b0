import { expect, test } from '@jest/globals';
import { plainScript } from './steering/script.ts';
import { taskBook } from './task-book.ts';
import type { Task } from './task.ts';

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

test('a full book drops its oldest finished task for a new task', () => {
  const book = taskBook(() => 10_000, 2);
  book.add(aTask('unfinished', 9900));
  book.add(aTask('finished', 0));

  const added = book.add(aTask('new', 10_000));

  expect([added, book.newestFirst().map(({ id }) => id)]).toEqual([true, ['new', 'unfinished']]);
});

test('a book full of unfinished tasks accepts no new task', () => {
  const book = taskBook(() => 0, 1);
  book.add(aTask('unfinished', 0));

  expect([book.add(aTask('new', 0)), book.find('new')]).toEqual([false, undefined]);
});
