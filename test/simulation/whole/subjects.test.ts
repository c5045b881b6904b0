import { expect, test } from '@jest/globals';
import { openSubjects } from './subjects.ts';

const [TASK, OTHER] = ['task_000000000001', 'task_000000000002'];

test('a text with the id of a task is about the order whose request created it', () => {
  const subjects = openSubjects();
  subjects.learn('a task was created', { taskId: TASK, requestId: 'order-5.again' });
  subjects.learn('a task was created', { taskId: OTHER, requestId: 'req_1' });
  subjects.learn('a task ended', { taskId: OTHER, requestId: 'order-6' });

  expect(subjects.name(`the event of ${TASK} at 3`)).toBe('order-5');
  expect(subjects.name(`the event of ${OTHER}`)).toBe('');
});
