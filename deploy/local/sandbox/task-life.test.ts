import { expect, test } from '@jest/globals';
import type { Order } from './vendor-order.ts';
import { steer } from './steering/steering-words.ts';
import { isReadable, nextChangeAt, findPhase } from './task-life.ts';
import type { Picture, Task } from './task-life.ts';

const second = 1000;
const pictureOrder = { prompt: 'A fox', resolution: '768P', ratio: '16:9', seconds: 5, caption: '' } as const;
const order: Order = {
  kind: 'generation',
  model: 'MiniMax-H3',
  text: 'A fox',
  roles: [],
  resolution: '768P',
  duration: 5,
  ratio: '16:9',
  inputSeconds: 0,
  inputAudioSeconds: 0,
  callbackUrl: undefined,
};

function aTask(prompt: string, part: Partial<Task> = {}): Task {
  return {
    id: '1',
    order,
    script: steer(prompt, 'generation'),
    createdAt: 0,
    picture: { state: 'ready', order: pictureOrder, at: 0 },
    cancelledAt: undefined,
    reads: 0,
    ...part,
  };
}

test.each<[string, string, readonly (readonly [number, string])[]]>([
  [
    'a plain task',
    'A fox',
    [
      [0, 'queued'],
      [0.9, 'queued'],
      [1, 'running'],
      [1.9, 'running'],
      [2, 'succeeded'],
      [1e6, 'succeeded'],
    ],
  ],
  [
    '[queue:10s]',
    '[queue:10s]',
    [
      [9.9, 'queued'],
      [10, 'running'],
      [11, 'succeeded'],
    ],
  ],
  [
    '[slow:30s]',
    '[slow:30s]',
    [
      [1, 'running'],
      [30.9, 'running'],
      [31, 'succeeded'],
    ],
  ],
  [
    '[never]',
    '[never]',
    [
      [1, 'running'],
      [1e6, 'running'],
    ],
  ],
  [
    '[fail]',
    '[fail]',
    [
      [1, 'running'],
      [2, 'failed'],
    ],
  ],
  [
    '[cancelled]',
    '[cancelled]',
    [
      [1, 'running'],
      [2, 'cancelled'],
    ],
  ],
  [
    '[expired]',
    '[expired]',
    [
      [1, 'running'],
      [2, 'expired'],
    ],
  ],
  [
    '[unknown:paused]',
    '[unknown:paused]',
    [
      [1, 'running'],
      [2, 'paused'],
      [1e6, 'paused'],
    ],
  ],
  [
    '[unknown:paused] [recover:20s]',
    '[unknown:paused] [recover:20s]',
    [
      [2, 'paused'],
      [19.9, 'paused'],
      [20, 'succeeded'],
    ],
  ],
])('%s passes through its statuses at the planned times', (_name, prompt, moments) => {
  const task = aTask(prompt);

  const seen = moments.map(([seconds]) => [seconds, findPhase(task, seconds * second).status]);

  expect(seen).toEqual(moments);
});

test.each<[string, Picture, string, string]>([
  ['runs while its video is awaited', { state: 'awaited', order: pictureOrder }, 'running', 'running'],
  [
    'succeeds when its video is ready, not sooner',
    { state: 'ready', order: pictureOrder, at: 5 * second },
    'running',
    'succeeded',
  ],
  ['fails when its video broke', { state: 'broken', at: 5 * second }, 'running', 'failed'],
])('a task %s', (_name, picture, before, after) => {
  const task = aTask('A fox', { picture });

  expect([findPhase(task, 4.9 * second).status, findPhase(task, 5 * second).status]).toEqual([before, after]);
});

test('a cancelled task stays cancelled', () => {
  const task = aTask('A fox', { cancelledAt: 0.5 * second });

  expect(findPhase(task, 10 * second)).toEqual({ status: 'cancelled', since: 0.5 * second });
});

test('the time of the next change is that of the first change to come', () => {
  const task = aTask('A fox');

  expect([nextChangeAt(task, 0), nextChangeAt(task, second), nextChangeAt(task, 2 * second)]).toEqual([
    second,
    2 * second,
    undefined,
  ]);
});

test('a task can be read for seven days', () => {
  const days = 24 * 3600 * second;

  expect([isReadable(aTask('A fox'), 7 * days), isReadable(aTask('A fox'), 7 * days + 1)]).toEqual([true, false]);
});
