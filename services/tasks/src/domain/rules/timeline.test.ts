import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { aContextIr, anImage, anOrder, aText } from '../../../testing/orders.ts';
import { aTask } from '../../../testing/tasks.ts';
import type { State } from '../task.ts';
import { buildTimeline } from './timeline.ts';
import type { TaskLife, TimelineEntry } from './timeline.ts';

type Line = readonly [step: TimelineEntry['step'], from: number, to?: number];

const WITH_MEDIA = anOrder({ content: [aText('a fox'), anImage('first_frame')] });
const ACCEPTED = { outcome: 'accepted', startedAt: 0, endedAt: 2 };

/** A task that was created at 0. */
function aLife({
  attempts = [ACCEPTED],
  events = [],
  ...task
}: Partial<TaskLife['task']> & Partial<Omit<TaskLife, 'task'>>): TaskLife {
  return { task: aTask({ createdAt: 0, ...task }), attempts, events };
}

const event = (at: number, type: string, detail: object = {}) => ({ at, type, detailJson: JSON.stringify(detail) });
const seen = (at: number, state = 'in_progress') => event(at, 'reported', { status: 'cooking', state });
const fetched = (at: number, ms: number) => event(at, 'completed', { usage: {}, fetch_ms: ms });

test.each<[string, TaskLife, readonly Line[]]>([
  [
    'of a task that waits for its turn',
    aLife({ events: [seen(4, 'queued')] }),
    [
      ['created', 0, 0],
      ['submitted', 0, 2],
      ['queued', 2],
    ],
  ],
  [
    'of a task under work, however often the upstream reports it',
    aLife({ state: 'in_progress', events: [seen(3, 'queued'), seen(5), seen(9)] }),
    [
      ['created', 0, 0],
      ['submitted', 0, 2],
      ['queued', 2, 5],
      ['in_progress', 5],
    ],
  ],
  [
    'of a completed task with media',
    aLife({
      order: WITH_MEDIA,
      state: 'completed',
      finishedAt: 30,
      attempts: [{ outcome: 'accepted', startedAt: 3, endedAt: 4 }],
      events: [seen(10), fetched(30, 8)],
    }),
    [
      ['created', 0, 0],
      ['prepared', 0, 3],
      ['submitted', 3, 4],
      ['queued', 4, 10],
      ['in_progress', 10, 22],
      ['fetched', 22, 30],
      ['completed', 30, 30],
    ],
  ],
  [
    'of a completed task that no poll saw at work',
    aLife({ state: 'completed', finishedAt: 9, events: [fetched(9, 1)] }),
    [
      ['created', 0, 0],
      ['submitted', 0, 2],
      ['in_progress', 2, 8],
      ['fetched', 8, 9],
      ['completed', 9, 9],
    ],
  ],
  [
    'of a prompt, which is not fetched',
    aLife({ order: aContextIr(), state: 'completed', finishedAt: 9, events: [event(9, 'completed')] }),
    [
      ['created', 0, 0],
      ['submitted', 0, 2],
      ['in_progress', 2, 9],
      ['completed', 9, 9],
    ],
  ],
  [
    'of a task that failed in the queue',
    aLife({ state: 'failed', finishedAt: 9 }),
    [
      ['created', 0, 0],
      ['submitted', 0, 2],
      ['queued', 2, 9],
      ['failed', 9, 9],
    ],
  ],
  [
    'of a task that needed three attempts, which are one step',
    aLife({
      attempts: [
        { outcome: 'refused', startedAt: 0, endedAt: 3 },
        { outcome: 'refused', startedAt: 4, endedAt: 5 },
        { outcome: 'accepted', startedAt: 6, endedAt: 8 },
      ],
    }),
    [
      ['created', 0, 0],
      ['submitted', 0, 8],
      ['queued', 8],
    ],
  ],
  [
    'of a task whose submission is unknown',
    aLife({ attempts: [{ outcome: 'unknown', startedAt: 0, endedAt: 3 }], events: [event(5, 'attention')] }),
    [
      ['created', 0, 0],
      ['submitted', 0],
      ['checked', 5],
    ],
  ],
  [
    'of a task whose work was found',
    aLife({
      attempts: [{ outcome: 'unknown', startedAt: 0, endedAt: 3 }],
      events: [event(5, 'attention'), event(7, 'adopted'), event(8, 'attention_resolved')],
    }),
    [
      ['created', 0, 0],
      ['submitted', 0, 7],
      ['checked', 5, 8],
      ['queued', 7],
    ],
  ],
  [
    'of a task whose work was never found',
    aLife({ state: 'failed', finishedAt: 9, attempts: [{ outcome: 'unknown', startedAt: 0, endedAt: 3 }] }),
    [
      ['created', 0, 0],
      ['submitted', 0, 9],
      ['failed', 9, 9],
    ],
  ],
  [
    'of a task over which a person decides only after its end',
    aLife({ state: 'failed', finishedAt: 9, events: [seen(4), event(9, 'failed'), event(12, 'attention')] }),
    [
      ['created', 0, 0],
      ['submitted', 0, 2],
      ['queued', 2, 4],
      ['in_progress', 4, 9],
      ['failed', 9, 9],
    ],
  ],
  [
    'of a task whose processes had different clocks',
    aLife({
      createdAt: 10,
      state: 'completed',
      finishedAt: 20,
      attempts: [{ outcome: 'accepted', startedAt: 8, endedAt: 12 }],
      events: [seen(25), fetched(20, 15)],
    }),
    [
      ['created', 10, 10],
      ['submitted', 10, 12],
      ['queued', 12, 20],
      ['in_progress', 20, 20],
      ['fetched', 20, 20],
      ['completed', 20, 20],
    ],
  ],
])('the timeline %s', (_what, life, lines) => {
  expect(buildTimeline(life).map(({ step, from, to }) => (to === undefined ? [step, from] : [step, from, to]))).toEqual(
    lines,
  );
});

const POISON = 'POISON';
const AT = fc.integer({ min: 0, max: 100 });
const WORDS = fc.constantFrom('queued', 'in_progress', 'completed', POISON);
const ANY_LIFE: fc.Arbitrary<TaskLife> = fc.record({
  task: fc
    .record({
      order: fc.constantFrom(WITH_MEDIA, aContextIr()),
      state: fc.constantFrom<State[]>('queued', 'in_progress', 'completed', 'failed'),
      createdAt: AT,
      finishedAt: fc.option(AT, { nil: undefined }),
    })
    .map(aTask),
  attempts: fc.array(
    fc.record({
      outcome: fc.constantFrom('started', 'accepted', 'refused', 'unknown'),
      channel: fc.constant(POISON),
      upstreamId: fc.constant(POISON),
      error: fc.constant(POISON),
      startedAt: AT,
      endedAt: fc.option(AT, { nil: undefined }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  events: fc.array(
    fc
      .tuple(
        AT,
        fc.constantFrom('reported', 'attention', 'attention_resolved', 'adopted', 'completed', 'failed', POISON),
        fc.record({
          status: fc.constant(POISON),
          state: WORDS,
          reason: fc.constant(POISON),
          fetch_ms: fc.oneof(AT, WORDS),
        }),
      )
      .map(([at, type, detail]) => event(at, type, detail)),
    { maxLength: 8 },
  ),
});

test('no timeline has a word of the upstream, a step that ends before it begins, or one outside the life', () => {
  fc.assert(
    fc.property(ANY_LIFE, (life) => {
      const entries = buildTimeline(life);
      const { createdAt, finishedAt = Infinity } = life.task;
      const endedAt = Math.max(createdAt, finishedAt);

      expect(JSON.stringify(entries)).not.toContain(POISON);
      for (const { from, to = endedAt } of entries)
        expect([createdAt <= from, from <= to, to <= endedAt]).toEqual([true, true, true]);
      expect(entries.map(({ from }) => from)).toEqual(entries.map(({ from }) => from).sort((a, b) => a - b));
    }),
  );
});
