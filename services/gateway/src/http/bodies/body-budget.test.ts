import { expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { openBodyBudget } from './body-budget.ts';
import type { BodyOwner, CountedBody } from './body-budget.ts';

const KIB = 1024;
const TOTAL = 32 * 1024 * KIB;
const BODY_MAX = 8 * 1024 * KIB;
const WAIT_MS = 1000;
const PACE = { idleMs: 10_000, bytesPerSecondMin: 1024 };
const OPERATOR: BodyOwner = { kind: 'operator', id: '' };
const never = new AbortController().signal;

const anAccount = (id: string): BodyOwner => ({ kind: 'account', id });
const aSource = (id: string): BodyOwner => ({ kind: 'source', id });

function opened() {
  const clock = fakeClock();
  const options = { bytesMax: TOTAL, bodyBytesMax: BODY_MAX, clock, waitMsMax: WAIT_MS, pace: PACE };
  const budget = openBodyBudget(options);
  const stops: string[] = [];
  /** A body that has begun to arrive. Its stop is noted under its name. */
  const arriving = (owner: BodyOwner, name = 'unnamed'): CountedBody => {
    const body = budget.count(owner);
    body.begin((why) => {
      stops.push(`${name} ${why}`);
      body.end();
    });
    return body;
  };
  const takeAll = (body: CountedBody, bytes: number): boolean => body.take(bytes, bytes);
  const seconds = async (count: number, each: () => void = () => undefined): Promise<void> => {
    for (let second = 0; second < count; second += 1) {
      each();
      await clock.advance(1000);
    }
  };
  return { clock, budget, stops, arriving, takeAll, seconds };
}

test('a body that has declared its length and sent nothing takes nothing', async () => {
  const { budget, arriving } = opened();

  for (let account = 0; account < 100; account += 1)
    expect(await arriving(anAccount(String(account))).waitForTurn(BODY_MAX, never)).toBe(true);

  expect(budget.state()).toEqual({ used: 0, limit: TOTAL });
});

test.each<[string, BodyOwner, number]>([
  ['an account has a quarter of the whole', anAccount('one'), TOTAL / 4],
  ['an address has an eighth', aSource('192.0.2.1'), TOTAL / 8],
  ['operators have all of it', OPERATOR, TOTAL],
])('%s', (_what, owner, share) => {
  const { arriving, takeAll } = opened();
  const body = arriving(owner);

  expect([takeAll(body, share), takeAll(body, 1)]).toEqual([true, false]);
});

test('the whole has a reserve for the beginnings of bodies, and one for operators', () => {
  const { arriving, takeAll, budget } = opened();
  for (let account = 0; account < 27; account += 1) {
    const complete = arriving(anAccount(String(account)));
    expect(takeAll(complete, 1024 * KIB)).toBe(true);
    complete.end();
  }
  expect(takeAll(arriving(anAccount('long')), 65 * KIB)).toBe(false);

  let beginnings = 0;
  while (takeAll(arriving(anAccount(`short ${beginnings}`)), 64 * KIB) && beginnings < 1000) beginnings += 1;

  expect(beginnings).toBe((4 * 1024) / 64);
  expect(takeAll(arriving(OPERATOR), 1024 * KIB)).toBe(true);
  expect(budget.state().used).toBe(TOTAL);
});

test('the largest body that arrives gives way to a much smaller one when its owner has no more', () => {
  const { arriving, takeAll, stops } = opened();
  const owner = aSource('192.0.2.1');
  takeAll(arriving(owner, 'large'), 3 * 1024 * KIB);
  takeAll(arriving(owner, 'less'), 1024 * KIB);

  expect(takeAll(arriving(owner, 'small'), 64 * KIB)).toBe(true);
  expect(stops).toEqual(['large busy']);
});

test('the owner who holds most gives way to one who holds little when all is full', () => {
  const { arriving, takeAll, stops, budget } = opened();
  for (let account = 0; account < 4; account += 1)
    takeAll(arriving(anAccount(String(account)), String(account)), (6.5 - account / 16) * 1024 * KIB);
  const before = budget.state().used;

  expect(takeAll(arriving(anAccount('other'), 'other'), 2 * 1024 * KIB)).toBe(true);
  expect(stops).toEqual(['0 busy']);
  expect(budget.state().used).toBe(before - 4.5 * 1024 * KIB);
});

test('a body that has stopped gives way to one of its own size, and one that goes on does not', async () => {
  const { arriving, takeAll, stops, seconds } = opened();
  const bodies = ['going', 'stopped'].map((name) => arriving(anAccount('one'), name));
  for (const body of bodies) takeAll(body, BODY_MAX / 2);
  await seconds(3, () => bodies[0]?.take(1024, 0));

  expect(takeAll(arriving(anAccount('one')), BODY_MAX / 2)).toBe(true);
  expect(stops).toEqual(['stopped busy']);
});

test('bodies of the same size do not stop each other, and a body that is complete is never stopped', () => {
  const { arriving, takeAll, stops } = opened();
  const owner = aSource('192.0.2.1');
  const [one, other] = [arriving(owner), arriving(owner)];
  takeAll(one, 2 * 1024 * KIB);
  takeAll(other, 2 * 1024 * KIB);
  expect(takeAll(one, 64 * KIB)).toBe(false);

  one.end();
  other.end();

  expect(takeAll(arriving(owner), 1)).toBe(false);
  expect(stops).toEqual([]);
});

test('the long bodies of one account wait for each other, and those of others do not', async () => {
  const { budget, clock } = opened();
  const [first, second, third] = [anAccount('one'), anAccount('one'), anAccount('one')].map(budget.count);
  const gone = new AbortController();
  const entered: string[] = [];
  const enter = async (name: string, body: CountedBody | undefined, bytes: number, signal = never): Promise<void> => {
    const isGranted = await body?.waitForTurn(bytes, signal);
    entered.push(`${name} ${String(isGranted)}`);
  };
  await enter('first', first, BODY_MAX);
  const waits = [enter('second', second, BODY_MAX), enter('third', third, BODY_MAX, gone.signal)];
  await enter('other', budget.count(anAccount('other')), BODY_MAX);
  await enter('short', budget.count(anAccount('one')), 64 * KIB);
  expect(entered).toEqual(['first true', 'other true', 'short true']);

  gone.abort();
  first?.release();
  await Promise.all(waits);
  expect(entered.slice(3).toSorted()).toEqual(['second true', 'third false']);

  const late = enter('late', budget.count(anAccount('one')), BODY_MAX);
  await clock.advance(WAIT_MS);
  await late;
  expect(entered.at(-1)).toBe('late false');
});

test('what a body has taken is free again once, however often it is released', () => {
  const { budget, arriving, takeAll } = opened();
  const body = arriving(anAccount('one'));
  takeAll(body, BODY_MAX);

  body.release();
  body.release();

  expect(budget.state().used).toBe(0);
  expect(takeAll(body, 1)).toBe(false);
});

test.each([
  ['that sends nothing', 0, 11],
  ['that drips', 100, 12],
  ['that sends half of the least speed', 512, 21],
])('a body %s is stopped', async (_what, bytesPerSecond, afterS) => {
  const { arriving, seconds, stops } = opened();
  const body = arriving(anAccount('one'), 'slow');
  const send = (): void => void body.take(bytesPerSecond, bytesPerSecond);

  await seconds(afterS - 2, send);
  expect(stops).toEqual([]);
  await seconds(3, send);

  expect(stops).toEqual(['slow slow']);
});

test('a body at the least speed goes on, and one that arrived early has no more time for that', async () => {
  const { arriving, seconds, stops } = opened();
  const [steady, early] = [arriving(anAccount('one'), 'steady'), arriving(anAccount('two'), 'early')];
  early.take(1024 * KIB, 0);

  await seconds(60, () => void steady.take(1024, 1024));

  expect(stops).toEqual(['early slow']);
});

test('the silence of a client is not counted while the gateway itself does not read or stands still', async () => {
  const { arriving, seconds, stops, clock } = opened();
  const paused = arriving(anAccount('one'), 'paused');
  paused.pause();
  await seconds(60);
  paused.resume();
  await seconds(9);
  await clock.advance(60_000);
  expect(stops).toEqual([]);

  await seconds(3);

  expect(stops).toEqual(['paused slow']);
});
