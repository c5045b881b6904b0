import { expect, test } from '@jest/globals';
import { fakeClock } from '../../testing/fake-clock.ts';
import { backlogCheck, CHECK_MS_MAX, ok, newChecks, runChecks } from './self-checks.ts';
import type { SelfCheck } from './self-checks.ts';

const hangs: SelfCheck = { part: 'hangs', check: () => new Promise(() => undefined) };

test('a check that hangs or throws has failed, and delays no other', async () => {
  const clock = fakeClock();
  const asked = runChecks(
    [
      { part: 'throws', check: () => Promise.reject(new Error('connect to postgres://role:hunter2@db refused')) },
      hangs,
      { part: 'works', check: async () => ok('well') },
      { part: 'has two answers', check: async () => [ok('one'), { grade: 'warn', detail: 'two', advice: 'mend it' }] },
    ],
    clock,
  );
  await clock.advance(CHECK_MS_MAX);

  expect(await asked).toEqual([
    { part: 'throws', grade: 'fail', detail: 'connect to postgres://***@db refused' },
    { part: 'hangs', grade: 'fail', detail: 'gave no answer within 5 s' },
    { part: 'works', grade: 'ok', detail: 'well' },
    { part: 'has two answers', grade: 'ok', detail: 'one' },
    { part: 'has two answers', grade: 'warn', detail: 'two', advice: 'mend it' },
  ]);
});

test('a check that hangs or throws gives the advice that it has', async () => {
  const clock = fakeClock();
  const asked = runChecks(
    [
      { ...hangs, advice: 'look' },
      { part: 'throws', advice: 'mend it', check: () => Promise.reject(new Error('no')) },
    ],
    clock,
    1500,
  );
  await clock.advance(1500);

  expect(await asked).toEqual([
    { part: 'hangs', grade: 'fail', detail: 'gave no answer within 1.5 s', advice: 'look' },
    { part: 'throws', grade: 'fail', detail: 'no', advice: 'mend it' },
  ]);
});

test('a check that hangs is told when its time is over', async () => {
  const clock = fakeClock();
  let told = false;
  const asked = runChecks(
    [
      {
        part: 'hangs',
        check: (signal) =>
          new Promise(() => {
            signal.addEventListener('abort', () => (told = true));
          }),
      },
    ],
    clock,
  );
  await clock.advance(CHECK_MS_MAX);
  await asked;

  expect(told).toBe(true);
});

test('a check that is added later is asked too', async () => {
  const checks = newChecks();
  checks.add({ part: 'one', check: async () => ok('') });
  const before = checks.all();
  checks.add({ part: 'two', check: async () => ok('') });

  expect([before, checks.all()].map((all) => all.map(({ part }) => part))).toEqual([['one'], ['one', 'two']]);
});

test.each<[string, number | undefined, string, string]>([
  ['nothing waits', undefined, 'ok', 'no events wait'],
  ['the oldest is young', 59_000, 'ok', '3 events wait, the oldest for 59 s'],
  ['the oldest is old', 60_000, 'warn', '3 events wait, the oldest for 60 s'],
  ['the oldest is very old', 600_000, 'fail', '3 events wait, the oldest for 600 s'],
])('of a queue in which %s', async (_what, ageMs, grade, detail) => {
  const clock = fakeClock();
  const check = backlogCheck({
    part: 'outbox',
    clock,
    what: 'events',
    warnMs: 60_000,
    failMs: 600_000,
    advice: 'look',
    read: async () => ({ count: 3, oldestAt: ageMs === undefined ? undefined : clock.now() - ageMs }),
  });

  expect(await runChecks([check], clock)).toEqual([
    { part: 'outbox', grade, detail, ...(grade === 'ok' ? {} : { advice: 'look' }) },
  ]);
});

test('a queue says where its oldest entry waits, if that is known', async () => {
  const clock = fakeClock();
  const read = async () => ({ oldestAt: clock.now() - 5000, where: 'on channel alpha' });
  const options = { part: 'polls', what: 'due polls', warnMs: 10_000, failMs: 20_000, advice: 'look' };

  expect(await runChecks([backlogCheck({ ...options, clock, read })], clock)).toMatchObject([
    { detail: 'due polls wait, the oldest for 5 s on channel alpha' },
  ]);
});
