import { describe, expect, test } from '@jest/globals';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { refusalOf } from '../../testing/order-summary.ts';
import { listVideos } from './openai/index.ts';
import { listTasks } from './vendor/index.ts';

const query = (text: string): URLSearchParams => new URLSearchParams(text);

describe('the compatibility list', () => {
  test.each([
    ['', { limit: 20, after: '', ascending: false }],
    ['limit=2&order=asc&after=task_1', { limit: 2, after: 'task_1', ascending: true }],
    ['limit=100&order=desc', { limit: 100, after: '', ascending: false }],
    ['label=spring%2F7', { limit: 20, after: '', ascending: false, label: 'spring/7' }],
  ])('%j', (text, expected) => {
    expect(listVideos.decode(query(text))).toEqual(expected);
  });
  test.each([
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=x', 'limit'],
    ['limit=-1', 'limit'],
    ['order=up', 'order'],
    ['order=toString', 'order'],
    [`after=${'x'.repeat(65)}`, 'after'],
    ['label=', 'label'],
    ['label=two+words', 'label'],
  ])('not %j', (text, field) => {
    expect(refusalOf(() => listVideos.decode(query(text)))).toMatchObject({ reason: 'invalid_request', field });
  });
});

describe('the vendor list', () => {
  test.each([
    ['', { limit: 20, offset: 0, withTotal: true, taskIds: [], model: '' }],
    ['page_num=3&page_size=50', { limit: 50, offset: 100, withTotal: true, taskIds: [], model: '' }],
    [
      'filter.status=running&filter.task_type=h3_context_ir&filter.model=Alpha-H3',
      {
        limit: 20,
        offset: 0,
        withTotal: true,
        taskIds: [],
        model: 'Alpha-H3',
        states: [TaskState.IN_PROGRESS],
        kind: TaskKind.CONTEXT_IR,
      },
    ],
    [
      'filter.task_ids=a&filter.task_ids=b,c',
      { limit: 20, offset: 0, withTotal: true, taskIds: ['a', 'b', 'c'], model: '' },
    ],
  ])('%j', (text, expected) => {
    expect(listTasks.decode(query(text))).toEqual(expected);
  });
  test.each([
    ['page_num=0', 'page_num'],
    ['page_num=1001', 'page_num'],
    ['page_size=101', 'page_size'],
    ['filter.status=paused', 'filter.status'],
    ['filter.task_type=x', 'filter.task_type'],
    [`filter.task_ids=${'a,'.repeat(101)}`, 'filter.task_ids'],
    [`filter.model=${'x'.repeat(300)}`, 'filter.model'],
  ])('not %j', (text, field) => {
    expect(refusalOf(() => listTasks.decode(query(text)))).toMatchObject({ reason: 'invalid_request', field });
  });
});
