import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { parserLines } from './parser-lines.ts';

/** A process that writes what a test says, and notes its end. */
function aProcess() {
  const stdout = new PassThrough();
  let kills = 0;
  const kill = (): boolean => {
    kills += 1;
    return true;
  };
  const child = Object.assign(new EventEmitter(), { stdout, kill });
  return {
    lines: parserLines(child as unknown as ChildProcess),
    write: async (text: string): Promise<void> => {
      stdout.write(text);
      await new Promise((resolve) => setImmediate(resolve));
    },
    exit: () => child.emit('exit'),
    kills: () => kills,
  };
}

test('the awaited lines of a process that writes one more stay, and it is ended', async () => {
  const { lines, write, kills } = aProcess();
  lines.await(3);

  await write('one\ntwo\ntwo again\nthree\n');

  expect([lines.isOver, kills()]).toEqual([true, 1]);
  expect([await lines.next(), lines.take(), await lines.next(), await lines.next()]).toEqual([
    ...['one', 'two', 'two again'],
    undefined,
  ]);
});

test('the answer of a process that ends right after it stays', async () => {
  const { lines, write, exit } = aProcess();
  lines.await(2);
  await write('one\n');
  exit();

  expect([await lines.next(), await lines.next()]).toEqual(['one', undefined]);
});

test.each([
  ['a line that is too long', 'a'.repeat(4097)],
  ['a line with one that is too long', `one\n${'a'.repeat(4097)}\n`],
  ['a part of a line that is not awaited', 'one\ntwo\nthr'],
])('%s ends the process', async (_what, text) => {
  const { lines, write, kills } = aProcess();
  lines.await(2);

  await write(text);

  expect([lines.isOver, kills()]).toEqual([true, 1]);
});

test('what a process writes after its end is dropped', async () => {
  const { lines, write } = aProcess();
  lines.await(1);
  await write('one\ntwo\n');
  await write('three\n');

  expect([await lines.next(), await lines.next()]).toEqual(['one', undefined]);
});
