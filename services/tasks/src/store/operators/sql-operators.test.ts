import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import path from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { newIds } from '@reelgate/platform/ids';
import { migrate } from '@reelgate/platform/sql/migrate';
import { describeOnEngines } from '../../../testing/store/describe-on-engines.ts';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import type { NewAct, OperatorStore } from '../operator-store.ts';
import { sqlOperators } from './sql-operators.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');
const DAY_MS = 24 * 3_600_000;
const AT = Date.UTC(2026, 0, 1);

const anAct = (subject: string): NewAct => ({ at: AT, actor: 'ann', action: 'channel_tested', subject, reason: '' });
const aPause = (channel: string, actor = 'ann', endsAt?: number) => ({ channel, at: AT, actor, reason: 'why', endsAt });
const row = (minute: number, channel: string, json: object = {}) => ({ minute, channel, json: JSON.stringify(json) });

describeOnEngines('the store of operators', (open) => {
  let clock: FakeClock;
  let store: OperatorStore;
  beforeEach(async () => {
    clock = fakeClock(AT);
    const sql = open();
    await migrate(sql, MIGRATIONS);
    store = sqlOperators(sql, newIds(clock));
  });
  const subjects = async (...page: Parameters<OperatorStore['acts']>): Promise<string[]> =>
    (await store.acts(...page)).map(({ subject }) => subject);

  test('pauses a channel once, with one act, however many do it at one moment', async () => {
    const pauses = await Promise.all(['ann', 'bob', 'eve'].map((actor) => store.pause(aPause('main', actor))));

    expect(new Set(pauses.map(({ actor }) => actor)).size).toBe(1);
    expect(await store.pauses()).toEqual([pauses[0]]);
    expect(await store.acts({}, { limit: 10 })).toMatchObject([
      { action: 'channel_paused', subject: 'main', actor: pauses[0]?.actor, reason: 'why', detailJson: '{}' },
    ]);
  });

  test('resumes a channel once, with one act', async () => {
    await store.pause(aPause('main'));

    expect([await store.resume(aPause('main')), await store.resume(aPause('main'))]).toEqual([true, false]);

    expect(await store.pauses()).toEqual([]);
    expect((await store.acts({}, { limit: 10 })).map(({ action }) => action)).toEqual([
      'channel_resumed',
      'channel_paused',
    ]);
  });

  test('ends a pause that is over once, with one act, however many do it at one moment', async () => {
    await store.pause(aPause('main', 'ann', AT + 1000));
    await store.pause(aPause('other', 'ann', AT + 1001));
    await store.pause(aPause('third'));

    expect(await store.endPauses(AT + 999)).toEqual([]);
    const ended = await Promise.all([1, 2, 3].map(() => store.endPauses(AT + 1000)));

    expect(ended.flat()).toEqual(['main']);
    expect((await store.pauses()).map(({ channel }) => channel)).toEqual(['other', 'third']);
    const acts = await store.acts({ subject: 'main' }, { limit: 10 });
    expect(acts).toMatchObject([
      { action: 'channel_returned', actor: 'ann', reason: 'why', at: timestampFromMs(AT + 1000) },
      { action: 'channel_paused', actor: 'ann', at: timestampFromMs(AT) },
    ]);
    expect(acts.map(({ detailJson }) => JSON.parse(detailJson) as unknown)).toEqual([
      { pausedAt: AT, endsAt: AT + 1000 },
      { endsAt: AT + 1000 },
    ]);
  });

  test('begins the next pause of a channel whose pause is over, and is not yet removed', async () => {
    await store.pause(aPause('main', 'ann', AT + 1000));

    const next = await store.pause({ ...aPause('main', 'bob'), at: AT + 2000 });

    expect(next).toMatchObject({ actor: 'bob', at: AT + 2000, endsAt: undefined });
    expect((await store.acts({}, { limit: 10 })).map(({ action }) => action)).toEqual([
      'channel_paused',
      'channel_returned',
      'channel_paused',
    ]);
  });

  test('lists acts in pages, the newest first, or those over one subject', async () => {
    for (const subject of ['one', 'two', 'one', 'three']) await store.addAct(anAct(subject));
    const [newest] = await store.acts({}, { limit: 1 });

    expect(newest?.subject).toBe('three');
    expect(await subjects({}, { limit: 2, after: newest?.id })).toEqual(['one', 'two']);
    expect(await subjects({ subject: 'one' }, { limit: 10 })).toEqual(['one', 'one']);
    expect(await subjects({ subject: 'none\0' }, { limit: 10 })).toEqual([]);
  });

  test('removes acts by their time, the oldest first', async () => {
    await store.addAct(anAct('old'));
    await clock.advance(1000);
    await store.addAct(anAct('older than the bound'));
    await clock.advance(DAY_MS);
    await store.addAct(anAct('new'));

    expect(await store.removeActs(AT + DAY_MS, 1)).toBe(1);
    expect(await subjects({}, { limit: 10 })).toEqual(['new', 'older than the bound']);
    expect(await store.removeActs(AT + DAY_MS, 10)).toBe(1);
    expect(await subjects({}, { limit: 10 })).toEqual(['new']);
  });

  test('keeps the last counts of each process, and removes old ones', async () => {
    await store.writeMinutes('proc_1', [row(60_000, 'main', { accepted: 1 }), row(120_000, '')]);
    await store.writeMinutes('proc_1', [row(60_000, 'main', { accepted: 2 })]);
    await store.writeMinutes('proc_2', [row(60_000, 'main', { accepted: 5 })]);

    const kept = await store.minutesSince(60_000, 10);
    expect(kept.map(({ minute }) => minute)).toEqual([120_000, 60_000, 60_000]);
    expect(kept.map(({ json }) => json).sort()).toEqual(['{"accepted":2}', '{"accepted":5}', '{}']);
    expect(await store.minutesSince(60_000, 1)).toHaveLength(1);
    expect([await store.removeMinutes(120_000, 10), (await store.minutesSince(0, 10)).length]).toEqual([2, 1]);
  });

  test('keeps the last faults of each process and each failure once, and removes old ones', async () => {
    const fault = (minute: number, subject: string, upstream: number) =>
      ({ minute, kind: 'account', subject, json: JSON.stringify({ upstream }) }) as const;
    const newId = newIds(clock);
    const aFailure = (channel: string, error: string) =>
      ({ id: newId('fail'), channel, at: clock.now(), kind: 'poll', taskId: 'task_1', error }) as const;
    const first = aFailure('main', 'first');
    await store.writeFaults('proc_1', [fault(AT, 'acme', 1)], [first]);
    await store.writeFaults('proc_1', [fault(AT, 'acme', 2)], [first, aFailure('other', 'elsewhere')]);
    await clock.advance(60_000);
    await store.writeFaults('proc_2', [fault(AT + 60_000, 'acme', 5)], [aFailure('main', 'second')]);

    expect((await store.faultsSince(AT, 10)).map(({ json }) => json)).toEqual(['{"upstream":5}', '{"upstream":2}']);
    expect(await store.faultsSince(AT, 1)).toHaveLength(1);
    expect((await store.channelFailures('main', 10)).map(({ error }) => error)).toEqual(['second', 'first']);
    expect((await store.channelFailures('main', 1)).map(({ error }) => error)).toEqual(['second']);

    expect(await store.removeFaults(AT + 60_000, 10)).toBe(2);
    expect((await store.channelFailures('main', 10)).map(({ error }) => error)).toEqual(['second']);
    expect((await store.faultsSince(0, 10)).map(({ json }) => json)).toEqual(['{"upstream":5}']);
  });
});
