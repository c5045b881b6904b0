import { describe, expect, test } from '@jest/globals';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import type { ConfigurationView as Answer } from '../../api/operator-configuration.ts';
import type { OperatorTaskView } from '../../api/operator-tasks.ts';
import { ConfigurationView } from './configuration.tsx';
import { OneJobView } from './job.tsx';
import { filtersIn } from './parts/filter-form.tsx';
import type { Charge, FoundTasks, TaskRecord } from './tasks.tsx';
import type { QueuedTask } from './parts/task-facts.tsx';
import { TaskView } from './task.tsx';
import { TasksView } from './tasks.tsx';

const usd = (amount: string): { amount: string; currency: string } => ({ amount, currency: 'USD' });
const text = (markup: string): string =>
  markup
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ([.,:])/g, '$1');

const row = {
  id: 'task_1',
  kind: 'generation',
  model: 'Alpha-H3',
  state: 'failed',
  progress: 0,
  prompt: 'a red boat',
  seconds: 5,
  resolution: '768P',
  ratio: '16:9',
  createdAt: 0,
  endedAt: 95_000,
  failure: { code: 'content_rejected', message: 'the prompt was rejected' },
  charge: { held: usd('0.4') },
  accountId: 'demo',
} as const;

const view: OperatorTaskView = {
  task: {
    ...row,
    updatedAt: 0,
    fullPrompt: 'a red boat <b>',
    tokenId: 'tok_1',
    tokenName: 'studio',
    references: [{ role: 'first_frame', kind: 'image', url: 'javascript:alert(1)' }],
    settings: { seed: 7 },
  },
  record: {
    ...{ tokenId: 'tok_1', admission: 'accepted', channel: 'east', upstreamId: 'up-7', upstreamStatus: 'Fail' },
    ...{ pollErrors: 2, requestId: '', traceId: '4bf9' },
    attempts: [
      {
        ...{ number: 1, channel: 'west', upstreamId: '', outcome: 'refused', error: 'HTTP 503' },
        ...{ startedAt: '1970-01-01T00:00:00Z', endedAt: '1970-01-01T00:00:00.400Z' },
      },
    ],
    events: [{ at: '1970-01-01T00:00:00Z', type: 'look_failed', detailJson: '{"error":"HTTP 500"}' }],
  },
  timeline: [],
  deliveries: [],
  unavailable: ['money', 'timeline'],
  raw: { id: 'task_1' },
  isInAttention: true,
  now: 0,
};

describe('a task', () => {
  const shown = renderToString(h(TaskView, { view, acts: [] }));

  test('shows the place of a task that waits, with the reason', () => {
    const { failure: _failure, endedAt: _endedAt, ...queuedTask } = view.task;
    const queued: QueuedTask = {
      kind: 'TASK_KIND_GENERATION',
      reason: 'QUEUE_REASON_CHANNEL_LIMIT',
      ...{ accountId: 'demo', tokenId: 'tok_1', model: 'Alpha-H3', costSeconds: '5' },
      place: {
        class: 'QUEUE_CLASS_BATCH',
        waitsFor: 'QUEUE_WAIT_CAPACITY',
        ...{ position: 1, startBy: '1970-01-01T00:00:00Z', estimatedStartAt: '1970-01-01T00:00:00Z' },
      },
    };
    const show = (admission: string): string => {
      const record = { ...view.record, admission };
      return text(renderToString(h(TaskView, { view: { ...view, task: queuedTask, record }, queued, acts: [] })));
    };
    const waiting = show('waiting');

    expect(waiting).toMatch(
      /Queue every channel is at a limit; class batch, 1 task of its token before it; expected .*; fails without a turn at /,
    );
    expect(show('accepted')).not.toContain('of its token before it');
  });

  test('shows whose it is, where it runs, and under which ids', () => {
    expect(text(shown)).toContain('✕ Failed after 95 s');
    expect(text(shown)).toMatch(/Account demo Token studio tok_1 Channel east Upstream id up-7 .*Trace 4bf9/);
    expect(text(shown)).toContain('Failed polls in a row 2');
  });

  test('shows what the upstream answered, and the stored history', () => {
    expect(text(shown)).toMatch(/1 west ✕ refused HTTP 503 – .* 400 ms/);
    expect(text(shown)).toContain('look failed error: HTTP 500');
  });

  test('shows the rest while money and the timeline cannot be read', () => {
    expect(text(shown)).toContain('The timeline cannot be read now.');
    expect(text(shown)).toContain('a red boat');
  });

  test('says what the work cost at its upstream, and who says so', () => {
    const render = (upstreamCost?: NonNullable<OperatorTaskView['upstreamCost']>): string =>
      text(
        renderToString(
          h(TaskView, { view: { ...view, ...(upstreamCost === undefined ? {} : { upstreamCost }) }, acts: [] }),
        ),
      );

    expect(render({ ...usd('0.35'), source: 'reported' })).toContain(
      'Cost at the upstream: $0.35, reported by the upstream',
    );
    expect(render({ ...usd('0.25'), source: 'estimated' })).toContain(
      'Cost at the upstream: $0.25, estimated by the upstream price',
    );
    expect(render()).not.toContain('Cost at the upstream');
  });

  test('leads to the decision that it waits for', () => {
    expect(shown).toContain('href="/console/attention?open=task_1"');
  });

  test('what a client sent is text, and a link only to the web', () => {
    expect(shown).toContain('a red boat &lt;b>');
    expect(shown).not.toContain('href="javascript:');
  });
});

describe('tasks', () => {
  const TASK_0 = `task_${'0'.repeat(26)}`;
  const record: TaskRecord = {
    ...{ tokenId: 'tok_1', admission: 'accepted', channel: 'east', upstreamId: '', upstreamStatus: '' },
    ...{ attempts: [], events: [], pollErrors: 0, requestId: '', traceId: '' },
    task: {
      ...{ id: 'task_1', accountId: 'demo', state: 'TASK_STATE_FAILED', progress: 0, seconds: 5, label: '' },
      ...{ unrecognisedStatus: '', pollAfterMs: '0' },
      createdAt: '1970-01-01T00:00:00Z',
      completedAt: '1970-01-01T00:01:35Z',
      failure: { code: 'content_rejected', message: 'the prompt was rejected', cause: 'FAILURE_CAUSE_ORDER' },
      order: {
        ...{ kind: 'TASK_KIND_GENERATION', model: 'Alpha-H3', resolution: '768P', content: [], sourceTaskId: '' },
        ...{ extraJson: '', optionalExtra: [] },
      },
    },
  };
  const charge: Charge = {
    ...{ taskId: 'task_1', accountId: 'demo', heldNanos: '400000000', basis: 'BASIS_UNSPECIFIED', currency: 'USD' },
  };
  const list = (changes: Partial<FoundTasks>, query = ''): string => {
    const found = { records: [record], charges: [charge], continueAfter: '', ...changes };
    return renderToString(h(TasksView, { found, query: new URLSearchParams(query) }));
  };

  test('a row says whose it is, what was ordered, its channel and its money', () => {
    expect(text(list({}))).toMatch(/task_1 ✕ Failed demo Alpha-H3 5 s · 768P east 95 s \$0\.40 held/);
  });

  test.each<[string, Partial<Charge>, string]>([
    ['what was charged once it is settled', { chargedNanos: '250000000', basis: 'BASIS_USAGE' }, '$0.25'],
    ['what is held while its charge waits', { chargedNanos: '0', basis: 'BASIS_DEFERRED' }, '$0.40 held'],
  ])('the money of a row is %s', (_case, changes, shown) => {
    expect(text(list({ charges: [{ ...charge, ...changes }] }))).toContain(`95 s ${shown}`);
  });

  test('the tasks are listed while billing cannot be read', () => {
    expect(text(list({ charges: [] }))).toMatch(/task_1 ✕ Failed .* 95 s – /);
  });

  test('the next page keeps the filters', () => {
    expect(list({ continueAfter: TASK_0 }, 'state=failed&after=task_9')).toContain(
      `href="/console/tasks?state=failed&amp;after=${TASK_0}"`,
    );
  });

  test('an answer that ended early says how far back it looked, and offers to go on', () => {
    const shown = text(list({ records: [], continueAfter: TASK_0 }));

    expect(shown).toContain('No task matches so far.');
    expect(shown).toContain('Searched back to 1 Jan 1970');
    expect(shown).toContain('Search further back');
  });

  test('a change of the filters begins at the first page', () => {
    const data = new FormData();
    data.set('state', 'failed');
    data.set('account', ' demo ');

    expect(filtersIn(data, [{ name: 'state' }, { name: 'account' }, { name: 'find' }])).toEqual({
      state: 'failed',
      account: 'demo',
      find: '',
      after: '',
    });
  });
});

test('a job shows its failure, its calls, and the decision that it waits for', () => {
  const job = {
    ...{ id: 'job_1', accountId: 'demo', tokenId: 'tok_1', endpoint: 'chat', model: 'echo', starts: 2 },
    ...{ createdAt: '1970-01-01T00:00:00Z', requestId: '', traceId: '' },
    events: [{ at: '1970-01-01T00:00:00.006Z', type: 'started', detailJson: '{"worker":"one"}' }],
    state: 'TASK_STATE_FAILED' as const,
    failure: { code: 'unknown_outcome', message: 'the answer is lost' },
  };
  const shown = renderToString(h(OneJobView, { job, isInAttention: true, acts: [] }));

  expect(text(shown)).toContain('the answer is lost unknown_outcome');
  expect(text(shown)).toContain('Calls of the upstream started 2');
  expect(text(shown)).toContain('started worker: one');
  expect(shown).toContain('href="/console/attention?open=job_1"');
});

describe('the configuration', () => {
  const answer: Answer = {
    effective: { signing_key: '***', channels: [{ id: 'east', limits: { in_flight: 30 } }] },
    files: ['reelgate.yaml'],
    differences: [{ key: 'gateway.listen', running: '0.0.0.0:8080', file: '0.0.0.0:8081', needsStart: true }],
    appliedAt: 0,
    warnings: ['no price for Beta-V1'],
    version: '1.0.0',
  };
  const shown = (changes: Partial<Answer> = {}): string =>
    text(renderToString(h(ConfigurationView, { view: { ...answer, ...changes } })));

  test('says what differs from the files, and when that takes effect', () => {
    expect(shown()).toContain('▲ The files have changes that are not in use.');
    expect(shown()).toContain('gateway.listen 0.0.0.0:8080 0.0.0.0:8081 at the next start');
  });

  test('says why the newest files are not in use', () => {
    expect(shown({ refused: 'reelgate.yaml:4: unknown key' })).toContain(
      '✕ The last reload was refused reelgate.yaml:4: unknown key',
    );
  });

  test('says that the newest files are in use', () => {
    expect(shown({ differences: [] })).toContain('● The newest files are in use.');
  });

  test('folds the effective values, and names an entry of a list by its id', () => {
    expect(shown()).toContain('signing_key: ***');
    expect(shown()).toContain('[0] east');
  });
});
