import { expect, test } from '@jest/globals';
import { pickHistory } from './pick-history.ts';

const created = (ms: number, order: string, task: string, account = 'acme'): string =>
  `${ms} process-1 info a task was created {"taskId":"${task}","accountId":"${account}","requestId":"${order}"}`;
const [FIRST, SECOND] = ['task_000000000001', 'task_000000000002'];
const LINES: readonly string[] = [
  '0 machine process-1 starts',
  created(5, 'order-1', FIRST),
  created(6, 'order-12.again', SECOND, 'leaver'),
  '7 network POST /videos of process-1: answered 200 {"id":"upstream-work-order-1-1"}',
  '8 network POST /videos of process-1: answered 200 {"id":"upstream-work-order-12-1"}',
  '9 machine process-1 dies: kill by crash 1',
  `10 process-1 info a webhook was delivered {"taskId":"${FIRST}","eventId":"evt_000000000009"}`,
  '11 receiver https://hooks.example/one taken: evt_000000000009',
  '12 machine process-2 starts',
];

test('a history has the lines of the order that the rule names, and the deaths meanwhile', () => {
  expect(pickHistory(LINES, 'order-1: two works')).toEqual({
    orders: ['order-1'],
    lines: [1, 3, 5, 6, 7].map((at) => LINES[at]),
  });
});

test('a rule that names a task is about the order of the task', () => {
  expect(pickHistory(LINES, `id ${SECOND}, state failed`)).toEqual({
    orders: ['order-12'],
    lines: [2, 4].map((at) => LINES[at]),
  });
});

test('a rule that names an account is about the tasks of the account', () => {
  expect(pickHistory(LINES, 'id leaver, held_nanos 5')).toEqual({ orders: [], lines: [2, 4].map((at) => LINES[at]) });
});

test('a rule that names nothing has the last hundred lines', () => {
  const many = Array.from({ length: 300 }, (_none, at) => `${at} client order-2: line ${at}`);

  expect(pickHistory(many, 'the outbox is not empty')).toEqual({ orders: [], lines: many.slice(-100) });
});

test('a long history keeps its begin and its end', () => {
  const many = Array.from({ length: 300 }, (_none, at) => `${at} client order-2: line ${at}`);

  const { lines } = pickHistory(many, 'order-2');

  expect(lines).toHaveLength(100);
  expect(lines[0]).toBe(many[0]);
  expect(lines.at(-1)).toBe(many.at(-1));
  expect(lines).toContain('201 further events are left out');
});
