import { describe, expect, test } from '@jest/globals';
import { seeded } from '../../../../../test/harness/seeded.ts';
import type { Seeded } from '../../../../../test/harness/seeded.ts';
import { HEALTHY } from '../webhook.ts';
import type { Attempt, Delivery, Health } from '../webhook.ts';
import { INTERVALS_MS, RETRY_AFTER_MAX_MS } from './delivery-schedule.ts';
import { judgeAttempts, FAILING_MAX_MS } from './judge-attempts.ts';
import type { JudgedAttempt, MadeAttempt } from './judge-attempts.ts';

const NOW = 1_000_000;
const ENDPOINT = { endpointId: 'whe_1', health: HEALTHY, circuit: 0 };
const ORIGIN = { endpointId: 'default', health: HEALTHY, circuit: 0 };

function aDelivery(id: string, changes: Partial<Delivery> = {}): Delivery {
  return {
    id,
    eventId: `evt_${id}`,
    eventType: 'video.completed',
    subjectId: 'task_1',
    receiverId: 'whe_1',
    endpointId: 'whe_1',
    accountId: 'acme',
    url: 'https://hooks.example/',
    state: 'pending',
    attempts: 0,
    attemptsBefore: 0,
    dueAt: NOW,
    status: 0,
    error: '',
    createdAt: NOW,
    ...changes,
  };
}

function made(deliveryId: string, status: number, changes: Partial<Attempt> = {}, retryAfterMs = 0): MadeAttempt {
  const attempt = { number: 1, at: NOW, durationMs: 5, status, error: '', requestHeaders: {}, answerHead: '' };
  return { deliveryId, attempt: { ...attempt, ...changes }, retryAfterMs };
}

const judge = (
  receiver: { readonly endpointId: string; readonly health: Health; readonly circuit?: number },
  deliveries: readonly Delivery[],
  attempts: readonly MadeAttempt[],
  now = NOW,
) =>
  judgeAttempts({ circuit: 0, ...receiver }, new Map(deliveries.map((delivery) => [delivery.id, delivery])), attempts, {
    now,
    chance: () => 0.5,
  });
const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `dlv_${index}`);

test('attempts are judged in the order in which they ended', () => {
  const ids = numbered(7);
  const statuses = [500, 500, 200, 500, 500, 500, 500];
  const { attempts, health } = judge(
    ENDPOINT,
    ids.map((id) => aDelivery(id)),
    ids.map((id, index) => made(id, statuses[index]!)),
  );

  expect(attempts.map(({ state }) => state).join(' ')).toBe(
    'pending pending delivered pending pending pending pending',
  );
  expect(health).toMatchObject({ failures: 4, lastSuccessAt: NOW, lastFailureAt: NOW });
});

test.each<[string, Partial<Delivery>, Partial<Attempt>]>([
  ['is reported twice', { attempts: 1 }, { number: 1 }],
  ['skips a number', { attempts: 1 }, { number: 3 }],
  ['is of a delivery that has ended', { state: 'failed' }, {}],
  ['is of a delivery that is not known', { id: 'another' }, {}],
])('an attempt that %s changes nothing', (_what, delivery, attempt) => {
  expect(judge(ENDPOINT, [aDelivery('dlv_1', delivery)], [made('dlv_1', 500, attempt)])).toEqual({
    attempts: [],
    health: HEALTHY,
    circuit: 0,
    hasRecovered: false,
  });
});

describe('failures', () => {
  const begun = (circuits: readonly (number | undefined)[], statuses: readonly number[] = []): readonly MadeAttempt[] =>
    circuits.map((circuit, index) => ({ ...made(`dlv_${index}`, statuses[index] ?? 500), circuit }));
  const judged = (attempts: readonly MadeAttempt[], receiver: Parameters<typeof judge>[0] = ENDPOINT) =>
    judge(
      receiver,
      attempts.map(({ deliveryId }) => aDelivery(deliveryId)),
      attempts,
    );

  test.each<[string, readonly (number | undefined)[], number]>([
    ['that were under way together count once', [0, 0, 0, 0], 1],
    ['that began after the one before was counted each count', [0, 1, 2, 3, 4], 5],
    ['of several rounds count once for each round', [0, 0, 0, 1, 1, 2], 3],
    ['of a worker that does not say each count', [undefined, undefined, undefined], 3],
  ])('%s', (_what, circuits, failures) => {
    const { health, circuit } = judged(begun(circuits));

    expect([health.failures, circuit]).toEqual([failures, failures]);
  });

  test('that come in a later record count once with those of an earlier one', () => {
    const first = judged(begun([0, 0]));
    const second = judged(begun([0, 0]), { ...ENDPOINT, ...first });

    expect([second.health.failures, second.circuit]).toEqual([1, 1]);
  });

  test('of attempts that began before a success do not count after it', () => {
    const failing = { ...ENDPOINT, health: { failures: 4, failingSince: NOW }, circuit: 9 };
    const { health, circuit, hasRecovered } = judged(begun([9, 9], [200, 500]), failing);

    expect([health.failures, circuit, hasRecovered]).toEqual([0, 10, true]);
  });

  test('open the circuit at the fifth that is counted', () => {
    expect(judged(begun([0, 0, 0, 0, 1, 2, 3])).health.openUntil).toBeUndefined();
    expect(judged(begun([0, 0, 0, 0, 1, 2, 3, 4])).health.openUntil).toBe(NOW + 5000);
  });
});

describe('a receiver has recovered', () => {
  test.each<[string, number, readonly number[], boolean]>([
    ['at the first success after failures', 2, [200], true],
    ['not if it fails again at once', 2, [200, 500], false],
    ['not if it had not failed', 0, [200], false],
    ['not while it fails', 2, [500], false],
  ])('%s', (_what, failures, statuses, has) => {
    const attempts = statuses.map((status, index) => made(`dlv_${index}`, status));
    const receiver = { ...ENDPOINT, health: { failures, failingSince: NOW } };

    expect(
      judge(
        receiver,
        attempts.map(({ deliveryId }) => aDelivery(deliveryId)),
        attempts,
      ).hasRecovered,
    ).toBe(has);
  });
});

describe('a URL that is gone', () => {
  test('disables its endpoint', () => {
    expect(judge(ENDPOINT, [aDelivery('dlv_1')], [made('dlv_1', 410)])).toMatchObject({
      attempts: [{ state: 'failed' }],
      disable: 'gone',
    });
  });

  test('of a request ends its delivery and says nothing about its origin', () => {
    const health = { failures: 3, failingSince: NOW - 1000 };
    expect(judge({ ...ORIGIN, health }, [aDelivery('dlv_1')], [made('dlv_1', 410)])).toMatchObject({
      attempts: [expect.objectContaining({ state: 'failed' })],
      health: { ...health, lastFailureAt: NOW },
    });
  });
});

describe('five days of failures', () => {
  const failing = { failures: 40, failingSince: NOW };
  const at = NOW + FAILING_MAX_MS;

  test('disable an endpoint at the next failure', () => {
    expect(judge({ ...ENDPOINT, health: failing }, [aDelivery('dlv_1')], [made('dlv_1', 500)], at).disable).toBe(
      'failing',
    );
  });

  test('are forgotten at a success, even if a failure came just before it', () => {
    const { disable, health } = judge(
      { ...ENDPOINT, health: failing },
      [aDelivery('dlv_1'), aDelivery('dlv_2')],
      [made('dlv_1', 500), made('dlv_2', 200)],
      at,
    );

    expect(disable).toBeUndefined();
    expect(health.failures).toBe(0);
  });

  test('disable no origin', () => {
    expect(judge({ ...ORIGIN, health: failing }, [aDelivery('dlv_1')], [made('dlv_1', 500)], at).disable).toBe(
      undefined,
    );
  });
});

/** A receiver that answers by chance, through phases of better and worse answers. */
function answerOf(chance: Seeded, badness: number): readonly [status: number, retryAfterMs: number] {
  if (chance.chance() >= badness) return [chance.pick([200, 202, 204]), 0];
  const asks = chance.chance() < 0.2 ? chance.whole(1, 2 * RETRY_AFTER_MAX_MS) : 0;
  return [chance.pick([0, 302, 404, 429, 500, 503]), asks];
}

/** The next delivery of a receiver, when it is due and the circuit lets it through. */
function nextDelivery(deliveries: ReadonlyMap<string, Delivery>): Delivery | undefined {
  return [...deliveries.values()]
    .filter(({ state }) => state === 'pending')
    .toSorted((one, other) => one.dueAt! - other.dueAt!)[0];
}

function expectBySchedule(next: JudgedAttempt, status: number, asks: number, now: number): void {
  const { number } = next.attempt;
  const repeated = number === 11 ? 'failed' : 'pending';
  expect(next.state).toBe(status >= 200 && status < 300 ? 'delivered' : repeated);
  if (next.state !== 'pending') return;
  const interval = INTERVALS_MS[number]!;
  const asked = Math.min(asks, RETRY_AFTER_MAX_MS);
  expect(next.dueAt! - now).toBeGreaterThanOrEqual(Math.max(0.8 * interval, asked));
  expect(next.dueAt! - now).toBeLessThanOrEqual(Math.max(1.2 * interval, asked) + 1);
}

test.each(Array.from({ length: 40 }, (_, seed) => seed))(
  'random answers break no rule of the schedule or of the circuit (seed %d)',
  (seed) => {
    const chance = seeded(seed);
    const badness = chance.pick([0.1, 0.5, 0.9, 1]);
    const deliveries = new Map(numbered(20).map((id) => [id, aDelivery(id)]));
    let health: Health = HEALTHY;
    let now = NOW;
    let inARow: readonly number[] = [];

    for (let step = 0; step < 400; step += 1) {
      const delivery = nextDelivery(deliveries);
      if (delivery === undefined) break;
      now = Math.max(now, delivery.dueAt!, health.openUntil ?? 0);
      const [status, asks] = answerOf(chance, badness);
      const attempt = made(delivery.id, status, { number: delivery.attempts + 1 }, asks);
      const judgement = judgeAttempts({ ...ENDPOINT, health }, deliveries, [attempt], { now, chance: chance.chance });
      const [next] = judgement.attempts;
      expectBySchedule(next!, status, asks, now);

      inARow = next!.state === 'delivered' ? [] : [...inARow, now];
      const isOpen = inARow.length >= 5;
      const isLost = isOpen && now - inARow[0]! >= FAILING_MAX_MS;
      health = judgement.health;
      expect([health.failures, health.failingSince]).toEqual([inARow.length, inARow[0]]);
      expect((health.openUntil ?? 0) > now).toBe(isOpen);
      expect((health.openUntil ?? now) - now).toBeLessThanOrEqual(60_000);
      expect(judgement.disable).toBe(isLost ? 'failing' : undefined);
      deliveries.set(delivery.id, { ...delivery, ...next, attempts: attempt.attempt.number });
    }
  },
);
