import { describe, expect, test } from '@jest/globals';
import type { Json, PollResult, UpstreamAnswer } from '@reelgate/adapter-kit';
import { openaiVideos } from './openai-videos.ts';

const ID = 'video_1';
const calls = openaiVideos.openCalls({ options: {} });
const toAnswer = (body: unknown): UpstreamAnswer => ({ status: 200, body, headers: {}, retryAfterMs: undefined });

function poll(body: Json): PollResult | undefined {
  const steps = calls.poll(ID);
  steps.next();
  const step = steps.next(toAnswer(body));
  return step.done === true ? step.value : undefined;
}

/** What is read of a video with this status: its phase, or the code of its failure. */
function read(status: string): string {
  const polled = poll({ id: ID, object: 'video', status });
  if (polled?.found !== true) return 'nothing';
  const { report } = polled;
  expect(report.status).toBe(status);
  return report.phase === 'failed' ? report.failure.code : report.phase;
}

describe('a word of a server of this API', () => {
  test.each<[string, readonly string[]]>([
    [
      'queued',
      ['queued', 'pending', 'submitted', 'created', 'NOT_START', 'NotStarted', 'waiting', 'in_queue', 'IN-QUEUE'],
    ],
    ['running', ['in_progress', 'in-progress', 'InProgress', 'processing', 'PROCESSING', 'running', 'generating']],
    [
      'succeeded',
      ['completed', 'COMPLETED', 'succeeded', 'success', 'SUCCESS', 'TASK_STATUS_SUCCEED', 'done', 'finished'],
    ],
    ['failed', ['failed', 'FAILURE', 'error', 'Error', 'fail', 'rejected', 'JOB_STATE_FAILED', 'status.failed']],
    ['cancelled', ['cancelled', 'canceled', 'CANCELED', 'TASK_STATUS_CANCELED']],
    ['expired', ['expired', 'timeout', 'timed out']],
    ['content_rejected', ['content_moderated', 'Request Moderated', 'content_filtered']],
    [
      'unrecognised',
      ['paused', 'deleted', 'unknown', '', ' ', 'half done', 'successfully queued', 'constructor', 'status_'],
    ],
  ])('is read as %s: %j', (meaning, words) => {
    expect(words.map((word) => [word, read(word)])).toEqual(words.map((word) => [word, meaning]));
  });
});

test.each<[string, Json, string]>([
  ['a text', { error: 'stopped by the filter' }, 'stopped by the filter'],
  ['an object', { error: { message: 'no face' } }, 'no face'],
  ['an object with other words', { error: { msg: 'no face' } }, 'no face'],
  ['a member of its own', { fail_reason: 'no face' }, 'no face'],
  ['another member of its own', { failure_reason: 'no face', error: null }, 'no face'],
  ['a message beside the status', { message: 'no face' }, 'no face'],
  ['a short message beside the status', { msg: 'no face' }, 'no face'],
  ['a detail', { detail: [{ loc: ['body'], msg: 'no face' }] }, 'no face'],
  ['a part', { message: 'success', metadata: { error: { reason: 'no face' } } }, 'no face'],
  ['nothing', { error: { code: 7 }, message: 'ok' }, 'the generator ended the task without a result'],
])('the reason of a failure is told if it is %s', (_what, members, message) => {
  expect(poll({ id: ID, object: 'video', status: 'failed', ...members })).toMatchObject({
    report: { phase: 'failed', failure: { message } },
  });
});

test('a gateway that wraps its tasks in `data` is understood', () => {
  const created = { code: 'success', message: '', data: { task_id: 'task_9', status: 'NOT_START' } };
  const polled = {
    code: 'success',
    data: { task_id: ID, status: 'FAILURE', fail_reason: 'no face', progress: '100%' },
  };

  expect(calls.readSubmit(toAnswer(created), undefined as never)).toMatchObject({ upstreamId: 'task_9' });
  expect(poll(polled)).toMatchObject({
    report: { phase: 'failed', status: 'FAILURE', failure: { message: 'no face' } },
  });
  expect(poll({ data: { task_id: ID, status: 'SUCCESS', result_url: 'https://a.example/v.mp4' } })).toMatchObject({
    report: { phase: 'succeeded', url: 'https://a.example/v.mp4' },
  });
});
