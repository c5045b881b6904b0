import { describe, expect, test } from '@jest/globals';
import { newIds } from '@reelgate/platform/ids';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { NewChannelFailure, FaultRow } from '../../domain/minute-counts.ts';
import { aTask } from '../../../testing/tasks.ts';
import { FAILURES_MAX, SUBJECTS_MAX, newFaultCounter } from './fault-counter.ts';

const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 0, 1);

function opened() {
  const clock = fakeClock(START);
  const written: { readonly faults: readonly FaultRow[]; readonly failures: readonly NewChannelFailure[] }[] = [];
  const store = { away: false };
  const counter = newFaultCounter({
    clock,
    newId: newIds(clock),
    processId: 'proc_1',
    isModel: (model) => model !== 'invented',
    store: {
      writeFaults: async (_process, faults, failures) => {
        if (store.away) throw new Error('the database is away');
        written.push({ faults, failures });
      },
      faultsSince: async () => [],
      channelFailures: async () => [],
      removeFaults: async () => 0,
    },
  });
  const refuse = (accountId: string, model = 'alpha'): void => {
    counter.count.refusedBy('upstream', { model, accountId });
  };
  const failPoll = (number: number, channel = 'main'): void => {
    counter.count.poll(channel, 'error', { lateMs: 0, error: `error ${number}`, taskId: 'task_1' });
  };
  return { clock, store, counter, written, refuse, failPoll };
}

const named = (rows: readonly FaultRow[] | undefined) =>
  rows?.map(({ minute, kind, subject, json }) => [
    (minute - START) / MINUTE_MS,
    kind,
    subject,
    (JSON.parse(json) as { upstream: number }).upstream,
  ]);

describe('faults', () => {
  test('are counted by model and by account, and written when they have changed', async () => {
    const { clock, counter, written, refuse } = opened();
    refuse('acme');
    await counter.write();
    await counter.write();
    refuse('acme');
    await clock.advance(MINUTE_MS);
    refuse('rival');
    await counter.write();

    expect(written.map(({ faults }) => named(faults))).toEqual([
      [
        [0, 'model', 'alpha', 1],
        [0, 'account', 'acme', 1],
      ],
      [
        [0, 'model', 'alpha', 2],
        [0, 'account', 'acme', 2],
        [1, 'model', 'alpha', 1],
        [1, 'account', 'rival', 1],
      ],
    ]);
  });

  test('of a failed task are counted by its cause, and a completed task is none', async () => {
    const { counter, written } = opened();
    const fail = (code: string): void => {
      counter.count.finished(aTask(), { state: 'failed', at: START, failure: { code, message: 'why' } }, {});
    };
    fail('1026');
    fail('1013');
    counter.count.finished(aTask(), { state: 'failed', at: START, causedBy: 'us' }, {});
    counter.count.finished(aTask(), { state: 'completed', at: START }, {});

    await counter.write();

    expect(written[0]?.faults.map(({ json }) => JSON.parse(json) as object)).toEqual([
      { client: 1, upstream: 1, us: 1 },
      { client: 1, upstream: 1, us: 1 },
    ]);
    expect(written[0]?.failures).toMatchObject([{ kind: 'task', channel: 'main', error: '1013: why' }]);
  });

  test('of a model that no configuration has are counted without its name', async () => {
    const { counter, written, refuse } = opened();
    refuse('acme', 'invented');

    await counter.write();

    expect(named(written[0]?.faults)).toEqual([
      [0, 'model', '', 1],
      [0, 'account', 'acme', 1],
    ]);
  });

  test('have a bound on accounts: those beyond it are counted together', async () => {
    const { counter, written, refuse } = opened();
    for (let account = 0; account < SUBJECTS_MAX + 5; account += 1) refuse(`account-${account}`);

    await counter.write();

    const accounts = named(written[0]?.faults)?.filter(([, kind]) => kind === 'account');
    expect(accounts).toHaveLength(SUBJECTS_MAX + 1);
    expect(accounts?.at(-1)).toEqual([0, 'account', '', 5]);
  });

  test('that cannot be written are written later, the last ten minutes of them', async () => {
    const { clock, store, counter, written, refuse } = opened();
    store.away = true;
    for (let minute = 0; minute < 15; minute += 1) {
      refuse('acme');
      await expect(counter.write()).rejects.toThrow('away');
      await clock.advance(MINUTE_MS);
    }
    store.away = false;
    await counter.write();

    const minutes = Array.from({ length: 10 }, (_, index) => index + 5);
    expect(named(written[0]?.faults)).toEqual(
      minutes.flatMap((minute) => [
        [minute, 'model', 'alpha', 1],
        [minute, 'account', 'acme', 1],
      ]),
    );
  });
});

describe('the failures of a channel', () => {
  test('are the newest twenty between two writes, with their error cut to 300 characters', async () => {
    const { counter, written, failPoll } = opened();
    for (let number = 1; number <= FAILURES_MAX + 5; number += 1) failPoll(number);
    counter.count.attempt('second', 'refused', { ms: 1, error: 'x'.repeat(1000), taskId: 'task_2' });
    counter.count.attempt('second', 'accepted', { ms: 1, taskId: 'task_3' });
    counter.count.poll('second', 'running', { lateMs: 0, taskId: 'task_4' });

    await counter.write();

    const failures = written[0]?.failures ?? [];
    expect(failures.filter(({ channel }) => channel === 'main').map(({ error }) => error)).toEqual(
      Array.from({ length: FAILURES_MAX }, (_, index) => `error ${index + 6}`),
    );
    expect(failures.filter(({ channel }) => channel === 'second')).toMatchObject([
      { kind: 'attempt', taskId: 'task_2', at: START, error: 'x'.repeat(300) },
    ]);
  });

  test('that cannot be written are written later, under the same ids', async () => {
    const { store, counter, written, failPoll } = opened();
    failPoll(1);
    store.away = true;
    await expect(counter.write()).rejects.toThrow('away');
    failPoll(2);
    store.away = false;

    await counter.write();
    await counter.write();

    expect(written.map(({ failures }) => failures.map(({ error }) => error))).toEqual([['error 1', 'error 2']]);
    expect(new Set(written[0]?.failures.map(({ id }) => id)).size).toBe(2);
  });
});
