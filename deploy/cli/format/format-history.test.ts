import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from '@jest/globals';
import { GetHoldResponseSchema } from '@reelgate/proto/billing/v1/billing_service';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { TaskRecordSchema } from '@reelgate/proto/tasks/v1/operator_service';
import { MediaKind, TaskKind } from '@reelgate/proto/tasks/v1/order';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { formatHistory } from './format-history.ts';

const START = Date.UTC(2026, 10, 22, 12, 0, 3);
const at = (seconds: number) => timestampFromMs(START + seconds * 1000);

interface Life {
  readonly state?: TaskState;
  readonly admission?: string;
  readonly media?: number;
  readonly attempts?: readonly (readonly [
    channel: string,
    from: number,
    to: number | undefined,
    outcome: string,
    error?: string,
  ])[];
  readonly events?: readonly (readonly [at: number, type: string, detail?: object])[];
  readonly settledAt?: number;
  readonly nextPollAt?: number;
  readonly completedAt?: number;
  readonly costMicroUsd?: bigint;
  readonly estimatedNanos?: bigint;
}

function history(life: Life, nowS = 600): string[] {
  const { attempts = [], events = [], media = 0, admission = 'accepted' } = life;
  const record = create(TaskRecordSchema, {
    task: {
      id: 'task_1',
      accountId: 'demo',
      order: {
        kind: TaskKind.GENERATION,
        model: 'Alpha-H3',
        content: Array.from({ length: media }, () => ({
          item: { case: 'media' as const, value: { kind: MediaKind.IMAGE } },
        })),
      },
      state: life.state ?? TaskState.COMPLETED,
      createdAt: at(0),
      ...(life.completedAt === undefined ? {} : { completedAt: at(life.completedAt) }),
      result: { object: 'obj_1', bytes: 14_680_064n },
    },
    tokenId: 'tok_1',
    requestId: 'req-1',
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    admission,
    attempts: attempts.map(([channel, from, to, outcome, error = ''], index) => ({
      number: index + 1,
      channel,
      outcome,
      error,
      startedAt: at(from),
      ...(to === undefined ? {} : { endedAt: at(to) }),
    })),
    events: events.map(([when, type, detail = {}]) => ({ at: at(when), type, detailJson: JSON.stringify(detail) })),
    ...(life.costMicroUsd === undefined ? {} : { upstreamCostMicroUsd: life.costMicroUsd }),
    ...(life.nextPollAt === undefined ? {} : { nextPollAt: at(life.nextPollAt) }),
  });
  const money = create(GetHoldResponseSchema, {
    hold: { taskId: 'task_1', amountNanos: 420_000_000n, currency: 'USD', placedAt: at(0.1) },
    ...(life.estimatedNanos === undefined ? {} : { upstreamCost: { estimatedNanos: life.estimatedNanos } }),
    ...(life.settledAt === undefined
      ? {}
      : { settlement: { amountNanos: 400_000_000n, basis: Basis.USAGE, settledAt: at(life.settledAt) } }),
  });
  return formatHistory(record, money, START + nowS * 1000).split('\n');
}

test('a task is told from its creation to its settlement, with the time of each step', () => {
  const lines = history({
    media: 2,
    attempts: [
      ['alpha', 0.9, 1.1, 'refused', 'rate limit (1002)'],
      ['beta', 1.1, 2.3, 'accepted'],
    ],
    events: [
      [3.3, 'reported', { status: 'queueing', state: 'queued' }],
      [49.3, 'reported', { status: 'processing', state: 'in_progress' }],
      [143.4, 'completed', { fetch_ms: 2100 }],
    ],
    settledAt: 143.5,
  });

  expect(lines).toEqual([
    'task_1  generation  Alpha-H3  completed',
    'account demo  token tok_1  request req-1  trace 4bf92f3577b34da6a3ce929d0e0e4736  created 2026-11-22 12:00:03 UTC',
    '',
    '12:00:03  created',
    '12:00:03  held $0.42',
    '12:00:03  staged 2 references in 0.8 s',
    '12:00:04  attempt 1 on alpha was refused after 0.2 s (rate limit (1002))',
    '12:00:05  attempt 2 on beta was accepted after 1.2 s',
    '12:00:06  the upstream says queueing',
    '12:00:52  the upstream works, after 47 s in its queue',
    '12:02:24  the upstream was done after 92 s of work',
    '12:02:26  the result of 14.0 MiB was fetched in 2.1 s',
    '12:02:26  completed',
    '12:02:26  settled $0.4, $0.02 returned',
  ]);
});

test.each<[string, Pick<Life, 'costMicroUsd' | 'estimatedNanos'>, readonly string[]]>([
  [
    'as the upstream reported it',
    { costMicroUsd: 350_000n, estimatedNanos: 1n },
    ['cost      $0.35 at the upstream, reported by the upstream'],
  ],
  [
    'as an estimate without a report',
    { estimatedNanos: 250_000_000n },
    ['cost      $0.25 at the upstream, estimated by the upstream price'],
  ],
  ['not if it is unknown', {}, []],
])('the cost at the upstream stands below the settlement: %s', (_how, cost, expected) => {
  const lines = history({ events: [[2, 'completed']], settledAt: 2, ...cost });

  const settled = lines.indexOf('12:00:05  settled $0.4, $0.02 returned');
  expect(lines.slice(settled + 1)).toEqual(expected);
});

test('a long time that no entry explains is named', () => {
  const lines = history({
    attempts: [['alpha', 0.2, 1, 'accepted']],
    events: [[61, 'completed', { fetch_ms: 500 }]],
    settledAt: 361,
  });

  expect(lines.slice(-4)).toEqual([
    '12:01:04  the result of 14.0 MiB was fetched in 0.5 s',
    '12:01:04  completed',
    '          … 5 min 0 s without an entry',
    '12:06:04  settled $0.4, $0.02 returned',
  ]);
});

const ACCEPTED = [['alpha', 0.2, 1, 'accepted']] as const;

test.each<[string, Life, string]>([
  [
    'its turn on a channel',
    { state: TaskState.QUEUED, admission: 'waiting', events: [[20, 'waits']] },
    'waits     for its turn on a channel, since 12:00:23 (40 s)',
  ],
  [
    'an answer at its turn',
    { state: TaskState.QUEUED, admission: 'waiting', attempts: [['alpha', 30, undefined, 'started']] },
    'waits     for the answer of alpha to attempt 1, since 12:00:33 (30 s)',
  ],
  ['a hold', { admission: 'submitting' }, 'waits     for its hold and its references, since 12:00:03 (60 s)'],
  [
    'an answer',
    { admission: 'submitting', attempts: [['alpha', 10, undefined, 'started']] },
    'waits     for the answer of alpha to attempt 1, since 12:00:13 (50 s)',
  ],
  [
    'a lost answer',
    { admission: 'unknown', attempts: [['alpha', 10, 30, 'unknown', 'time-out']] },
    'waits     for the upstream to list the work with the lost answer, since 12:00:33 (30 s)',
  ],
  [
    'the queue of the upstream',
    { attempts: ACCEPTED, nextPollAt: 63 },
    "waits     in the upstream's queue, since 12:00:04 (59 s); next poll in 3.0 s",
  ],
  [
    'the work of the upstream',
    {
      state: TaskState.IN_PROGRESS,
      attempts: ACCEPTED,
      events: [[20, 'reported', { status: 'processing', state: 'in_progress' }]],
      nextPollAt: 50,
    },
    'waits     for the upstream, which works, since 12:00:23 (40 s); a poll is due',
  ],
  [
    'a person',
    {
      attempts: ACCEPTED,
      state: TaskState.COMPLETED,
      settledAt: 3,
      events: [[40, 'attention', { reason: 'overrun', detail: 'much' }]],
    },
    'waits     for a person: reelgate attention list, since 12:00:43 (20 s)',
  ],
  [
    'its settlement',
    { attempts: ACCEPTED, completedAt: 30, events: [[30, 'completed']] },
    'waits     for its settlement, since 12:00:33 (30 s)',
  ],
])('an unfinished task that waits for %s says so, and since when', (_what, life, expected) => {
  const isOpen = life.state === undefined && life.completedAt === undefined;

  expect(history(isOpen ? { state: TaskState.QUEUED, ...life } : life, 60).at(-1)).toBe(expected);
});

test('a finished and settled task waits for nothing', () => {
  const lines = history({ attempts: ACCEPTED, events: [[30, 'completed']], settledAt: 30 });

  expect(lines.filter((line) => line.startsWith('waits'))).toEqual([]);
});

test('the words of an upstream stay on one line of bounded length', () => {
  const lines = history({
    attempts: [['alpha', 0.2, 1, 'refused', `one\n\u001b[31m${'x'.repeat(5000)}`]],
    settledAt: 2,
  });

  expect(lines.filter((line) => line.length > 300 || line.includes('\u001b'))).toEqual([]);
  expect(lines).toHaveLength(7);
});
