import { describe, expect, test } from '@jest/globals';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { T0, aTaskMoney, aTaskRow, aTaskView, usd } from '../../testing/a-task.ts';
import { textOf } from '../../testing/text-of.ts';
import { HomeView } from './home.tsx';
import { TaskPage } from './task.tsx';
import { TaskListView } from './tasks.tsx';

const pageOf = (view = aTaskView(), maySeeWebhooks = true): string =>
  renderToString(h(TaskPage, { view, maySeeWebhooks, onChanged: () => undefined }));

describe('a task', () => {
  test('is told from its state to its raw answer', () => {
    const text = textOf(pageOf());
    const order = ['● Completed in 62 s', 'Charged $0.40 by usage', '1280 × 720', 'The same call', '47 s in the queue'];

    expect(order.map((part) => text.indexOf(part))).toEqual(
      order.map((part) => text.indexOf(part)).toSorted((one, other) => one - other),
    );
    expect(text).toContain('Webhook sent, answered 200');
    expect(text).not.toContain('Waited in the queue');
    expect(text).toContain('Raw JSON GET /v1/videos/task_1');
  });

  test('plays nothing by itself and shows what clients wrote as text', () => {
    const markup = pageOf();

    expect(markup).not.toMatch(/autoplay|<b>|href="javascript:|style=/);
    expect(markup).toContain('a &lt;b>boat&lt;/b>');
  });

  test('has its bar beside the list, for sight alone', () => {
    expect(pageOf()).toMatch(/<div class="lanes" aria-hidden="true">/);
  });

  test('that runs says how far it is, and what is held', () => {
    const running = aTaskView();
    const { endedAt: _ended, ...row } = running.task;
    const { video: _video, money: _money, ...rest } = running;
    const text = textOf(
      pageOf({ ...rest, task: { ...row, state: 'in_progress', progress: 40 }, unavailable: ['money'] }),
    );

    expect(text).toContain('Running for');
    expect(text).toContain('40 %');
    expect(text).toContain('The money of this task cannot be read now.');
    expect(text).not.toContain('Delete');
  });

  test('keeps the place of its video in the form of the order until the video is there', () => {
    const { video: _video, ...running } = aTaskView();
    const markup = pageOf({ ...running, task: { ...running.task, state: 'in_progress', ratio: '9:16' } });

    expect(markup).toContain('viewBox="0 0 9 16"');
    expect(pageOf()).toContain('viewBox="0 0 1280 720"');
  });

  test.each([
    ['order', usd('0'), 'The fault is in the order. Nothing was charged for it. Change the prompt or the references'],
    ['upstream', usd('0'), 'The fault is with the generator, not with your order. Nothing was charged for it.'],
    ['service', undefined, 'The fault is ours, not in your order. The $0.40 that were held go back'],
    [undefined, usd('0.4'), 'the model fell asleep Create it again, and change the prompt if it fails again.'],
  ] as const)('that failed by the %s says whose fault it was and what it costs', (cause, charged, told) => {
    const { video: _video, ...failed } = aTaskView();
    const failure = { code: 'x', message: 'the model fell asleep', ...(cause === undefined ? {} : { cause }) };
    const { charged: _charged, basis: _basis, ...held } = aTaskMoney();
    const money = charged === undefined ? held : { ...held, charged, basis: 'released' as const };

    expect(textOf(pageOf({ ...failed, money, task: { ...failed.task, state: 'failed', failure } }))).toContain(told);
  });

  test('that waits says for what, how many are before it, and when its turn is expected', () => {
    const waiting = aTaskView();
    const { endedAt: _ended, ...row } = waiting.task;
    const place = { since: T0, startBy: T0 + 3_600_000, class: 'standard', waitsFor: 'capacity' } as const;
    const textAt = (position: number, estimatedStartAt?: number): string => {
      const queue = { ...place, position, ...(estimatedStartAt === undefined ? {} : { estimatedStartAt }) };
      return textOf(pageOf({ ...waiting, task: { ...row, state: 'queued', progress: 0, queue } }));
    };

    expect(textAt(2, Date.now() + 3_600_000_000)).toMatch(
      /It waits for a free place\. 2 tasks of its token are before it\. It starts in \d+ d/,
    );
    expect(textAt(0)).toMatch(/It is the next one of its token\. It fails if it has not begun by /);
  });

  test('hides webhooks from a token that may not read them', () => {
    expect(textOf(pageOf(aTaskView(), false))).toContain('This token may not read webhooks.');
  });
});

describe('the list of tasks', () => {
  const list = { tasks: [aTaskRow()], models: ['Alpha-H3'], tokens: [], after: 'task_1' };
  const shown = (query = '', over: object = {}): string =>
    renderToString(h(TaskListView, { list: { ...list, ...over }, query: new URLSearchParams(query) }));

  test('has a row for each task, and a link to older ones that keeps the filters', () => {
    expect(textOf(shown())).toContain('a &lt;b>boat&lt;/b> task_1 ● Completed Alpha-H3 5 s · 768P · 16:9');
    expect(shown('state=running')).toContain('href="/console/tasks?state=running&amp;after=task_1"');
  });

  test.each(['gallery', 'compact', 'list'])('links each task in the form of the %s', (view) => {
    const markup = shown(`view=${view}`);

    expect(markup).toContain('href="/console/tasks/task_1"');
    expect(textOf(markup)).toContain('$0.40');
  });

  test('plays nothing before the pointer or the focus is on it', () => {
    expect(shown('view=gallery', { tasks: [aTaskRow({ thumbnail: '/t' })] })).not.toContain('<video');
  });

  test('names a task without a prompt by what it does', () => {
    const rendered = aTaskRow({ kind: 'regeneration', prompt: '', resolution: '2K' });

    expect(textOf(shown('', { tasks: [rendered] }))).toContain('Regeneration, 2K');
  });

  test('says how far a search has come', () => {
    const text = textOf(shown('state=failed', { tasks: [], searchedTo: T0 }));

    expect(text).toContain('No task matches');
    expect(text).toContain('Searched back to');
    expect(text).toContain('Search further back');
  });

  test('of a new account leads to the first task', () => {
    expect(shown('', { tasks: [], after: undefined })).toContain('href="/console/try"');
  });
});

test('home shows the money, what runs, and how much of each limit is used', () => {
  const text = textOf(
    renderToString(
      h(HomeView, {
        home: {
          money: {
            balance: usd('100'),
            held: usd('0.4'),
            free: usd('99.6'),
            spentToday: usd('0'),
            spent30Days: usd('12.5'),
          },
          running: [aTaskRow({ state: 'in_progress', progress: 40 })],
          failures: [],
          recent: [],
          limits: [
            { name: 'in_flight', used: 1, limit: 20 },
            { name: 'creates_per_minute', limit: 60 },
          ],
          now: T0,
        },
      }),
    ),
  );

  expect(text).toContain('Free to spend $99.60 of a balance of $100.00');
  expect(text).toContain('40 %');
  expect(text).toContain('Tasks at a time 1 of 20');
  expect(text).toContain('Creates a minute at most 60');
});
