import { expect, test } from '@jest/globals';
import { newRefusals } from './refusal-table.ts';

const refuse = newRefusals({
  task_not_found: { kind: 'not_found', message: 'no such task' },
  invalid_request: { kind: 'invalid' },
});

test('a refusal has the family of its reason, and its sentence unless another one is given', () => {
  expect(refuse('task_not_found')).toMatchObject({ kind: 'not_found', message: 'no such task', field: undefined });
  expect(refuse('task_not_found', { field: 'id', message: 'must be the id of a task' })).toMatchObject({
    kind: 'not_found',
    reason: 'task_not_found',
    field: 'id',
    message: 'must be the id of a task',
  });
  expect(refuse('invalid_request', { message: 'is wrong', retryAfterMs: 5 })).toMatchObject({
    kind: 'invalid',
    message: 'is wrong',
    retryAfterMs: 5,
  });
});

test('a reason that the table lacks, or a sentence that is missing, does not compile', () => {
  // @ts-expect-error the table has no such reason
  expect(() => refuse('no_such_reason', { message: 'is wrong' })).toThrow();
  // @ts-expect-error this reason needs a sentence
  refuse('invalid_request');
});
