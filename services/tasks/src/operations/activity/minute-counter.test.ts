import { describe, expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { Cause } from '../../domain/failure-cause.ts';
import { CHANNELS_MAX, answerPercentile } from '../../domain/minute-counts.ts';
import type { MinuteRow } from '../../domain/minute-counts.ts';
import { aTask } from '../../../testing/tasks.ts';
import { newMinuteCounter } from './minute-counter.ts';

const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 0, 1);

function opened() {
  const clock = fakeClock(START);
  const written: MinuteRow[][] = [];
  const store = { away: false };
  const counter = newMinuteCounter(
    clock,
    {
      writeMinutes: async (_process, rows) => {
        if (store.away) throw new Error('the database is away');
        written.push([...rows]);
      },
      minutesSince: async () => [],
      removeMinutes: async () => 0,
    },
    'proc_1',
  );
  const accept = (channel: string): void => {
    counter.count.attempt(channel, 'accepted', { ms: 100, taskId: 'task_1' });
  };
  return { clock, store, counter, written, accept };
}

const named = (rows: readonly MinuteRow[] | undefined) =>
  rows?.map(({ minute, channel, json }) => [
    (minute - START) / MINUTE_MS,
    channel,
    (JSON.parse(json) as { accepted: number }).accepted,
  ]);

describe('the counts of a process', () => {
  test('are written when they have changed, each with the whole of its minute', async () => {
    const { clock, counter, written, accept } = opened();
    accept('main');
    await counter.write();
    await counter.write();
    accept('main');
    accept('second');
    await clock.advance(MINUTE_MS);
    accept('main');
    await counter.write();

    expect(written.map(named)).toEqual([
      [[0, 'main', 1]],
      [
        [0, 'main', 2],
        [0, 'second', 1],
        [1, 'main', 1],
      ],
    ]);
  });

  test('that cannot be written are written later, the last ten minutes of them', async () => {
    const { clock, store, counter, written, accept } = opened();
    store.away = true;
    for (let minute = 0; minute < 15; minute += 1) {
      accept('main');
      await expect(counter.write()).rejects.toThrow('away');
      await clock.advance(MINUTE_MS);
    }

    store.away = false;
    await counter.write();

    expect(named(written[0])).toEqual(Array.from({ length: 10 }, (_, index) => [index + 5, 'main', 1]));
  });

  test('have a bound on channels', async () => {
    const { counter, written, accept } = opened();
    for (let channel = 0; channel <= CHANNELS_MAX; channel += 1) accept(`channel-${channel}`);

    await counter.write();

    expect(written[0]).toHaveLength(CHANNELS_MAX);
  });

  test('know the last error, cut to 300 characters, and late and failed polls', async () => {
    const { counter, written } = opened();
    counter.count.poll('main', 'running', { lateMs: 5001, taskId: 'task_1' });
    counter.count.poll('main', 'error', { lateMs: 5000, error: 'x'.repeat(1000), taskId: 'task_1' });

    await counter.write();

    const [whole, main] = written[0]!.map(({ json }) => JSON.parse(json) as object);
    expect(whole).toMatchObject({ polls: 2, latePolls: 1 });
    expect(main).toMatchObject({ failedPolls: 1, lastError: { text: 'x'.repeat(300), at: START } });
  });
});

test('failed tasks and refused creates are counted by their cause', async () => {
  const { counter, written } = opened();
  const fail = (code: string, causedBy?: Cause): void => {
    const failure = { code, message: '' };
    counter.count.finished(aTask(), { state: 'failed', at: START, failure, causedBy }, {});
  };
  fail('1026');
  fail('1013');
  fail('expired');
  fail('cancelled', 'client');
  fail('operator', 'us');
  for (const cause of ['client', 'upstream', 'upstream', 'us'] as const)
    counter.count.refusedBy(cause, { model: 'm', accountId: 'acme' });

  await counter.write();

  const [whole] = written[0]!.map(({ json }) => JSON.parse(json) as object);
  expect(whole).toMatchObject({ failed: 5, failedByClient: 2, failedByUpstream: 2, failedByUs: 1 });
  expect(whole).toMatchObject({ refusedByClient: 1, refusedByUpstream: 2, refusedByUs: 1 });
});

test.each<[readonly number[], number, number]>([
  [[], 0.5, 0],
  [[0, 0, 4], 0.5, 150],
  [[1, 1], 0.5, 50],
  [[1, 1], 0.95, 95],
  [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3], 0.95, 60_000],
])('of the answers %j the part %d came within %d ms', (answers, part, ms) => {
  expect(answerPercentile(answers, part)).toBe(ms);
});
