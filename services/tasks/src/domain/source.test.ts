import { expect, test } from '@jest/globals';
import { aContextIr, aRegeneration, anOrder } from '../../testing/orders.ts';
import { aSource } from '../../testing/tasks.ts';
import { sourceFault } from './rules/validate-order.ts';
import type { Task } from './task.ts';

const sized = (width: number, height: number): Task => aSource({ result: { object: 'obj_1', width, height } });

test.each<[string, Task]>([
  ['1344x768', sized(1344, 768)],
  ['768x1344', sized(768, 1344)],
  ['1024x992, a smaller area', sized(1024, 992)],
  ['768x768', sized(768, 768)],
])('a completed 768P generation of %s can be regenerated', (_what, source) => {
  expect(sourceFault(source)).toBeUndefined();
});

test.each<[string, Task, string, RegExp]>([
  ['context-IR', aSource({ order: aContextIr() }), 'source_task_unsupported', /video generation task/],
  ['a regeneration', aSource({ order: aRegeneration() }), 'source_task_unsupported', /video generation task/],
  ['a failed task', aSource({ state: 'failed' }), 'source_task_unsupported', /this task failed/],
  ['a queued task', aSource({ state: 'queued' }), 'source_task_not_ready', /not finished/],
  ['a running task', aSource({ state: 'in_progress' }), 'source_task_not_ready', /not finished/],
  ['a 2K result', aSource({ order: anOrder({ resolution: '2K' }) }), 'source_task_unsupported', /768P/],
  [
    'a task without a resolution',
    aSource({ order: anOrder({ resolution: undefined }) }),
    'source_task_unsupported',
    /768P/,
  ],
  ['a result with too many pixels', sized(1376, 768), 'source_task_unsupported', /at most 1344x768 pixels/],
  ['a width that is no multiple of 32', sized(1340, 768), 'source_task_unsupported', /at most 1344x768 pixels/],
  ['a height that is no multiple of 32', sized(1344, 760), 'source_task_unsupported', /at most 1344x768 pixels/],
  [
    'a result of unknown size',
    aSource({ result: { object: 'obj_1' } }),
    'source_task_unsupported',
    /at most 1344x768 pixels/,
  ],
  ['a task without a result', aSource({ result: undefined }), 'source_task_unsupported', /at most 1344x768 pixels/],
])('%s cannot be regenerated', (_what, source, reason, message) => {
  expect(sourceFault(source)).toEqual({ reason, field: 'source_task_id', message: expect.stringMatching(message) });
});
