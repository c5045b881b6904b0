import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Sql } from '@reelgate/platform/sql/sql';
import { newIds } from '@reelgate/platform/ids';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { DeliveryState } from '../../src/domain/webhook.ts';
import type { WebhookStore } from '../../src/store/webhook-store.ts';
import { AT, FAILING, aRecord, added, attempted, deliveriesOf, dispatched, dueAt, leased } from './opened-webhooks.ts';
import type { OpenWebhooks, OpenedWebhooks } from './opened-webhooks.ts';

/** Deliveries as their owners see them, and send them again. */
export function deliveriesConformance(open: OpenWebhooks): void {
  let store: WebhookStore;
  let sql: Sql;
  let on: OpenedWebhooks['on'];
  beforeEach(async () => {
    ({ store, sql, on } = await open());
    await added(store, 'whe_1');
  });
  /** Deliveries of these events in these states. */
  const ended = async (states: Readonly<Record<string, DeliveryState>>): Promise<Record<string, string>> => {
    await dispatched(store, Object.keys(states));
    const [receiver] = await leased(store);
    const attempts = receiver!.deliveries.map(({ id, eventId }) =>
      attempted(id, { state: states[eventId]!, status: states[eventId] === 'delivered' ? 200 : 500, dueAt: AT + 9000 }),
    );
    await store.recordAttempts([aRecord(receiver!, attempts)]);
    return Object.fromEntries(receiver!.deliveries.map(({ id, eventId }) => [eventId, id]));
  };

  test.each<[DeliveryState | undefined, string[]]>([
    [undefined, ['evt_4', 'evt_3', 'evt_2', 'evt_1']],
    ['delivered', ['evt_1']],
    ['failed', ['evt_4', 'evt_2']],
    ['pending', ['evt_3']],
  ])('those in the state %s are listed, the newest first', async (state, expected) => {
    await ended({ evt_1: 'delivered', evt_2: 'failed', evt_3: 'pending', evt_4: 'failed' });
    const page = async (
      limit: number,
      after?: string,
      accountId = 'acme',
    ): Promise<readonly { id: string; eventId: string }[]> =>
      store.listDeliveries({ accountId, endpointId: 'whe_1', state }, { limit, after });

    const all = await page(10);
    expect(all.map(({ eventId }) => eventId)).toEqual(expected);
    expect((await page(1)).map(({ eventId }) => eventId)).toEqual(expected.slice(0, 1));
    expect((await page(10, all[0]!.id)).map(({ eventId }) => eventId)).toEqual(expected.slice(1));
    expect(await page(10, undefined, 'rival')).toEqual([]);
  });

  test('a delivery is found by its owner only', async () => {
    const { evt_1: id } = await ended({ evt_1: 'delivered' });

    expect(await store.findDelivery('acme', id!)).toMatchObject({ id, state: 'delivered' });
    expect(await store.findDelivery('rival', id!)).toBeUndefined();
    expect(await store.findDelivery('acme', '\0')).toBeUndefined();
    expect([...(await store.findDeliveries([id!, 'whd_x'])).keys()]).toEqual([id]);
  });

  test('those about a task are listed with their attempts, the newest first, for its owner only', async () => {
    await added(store, 'whe_2');
    await dispatched(store, ['evt_1']);
    const receivers = await leased(store);
    await store.recordAttempts(receivers.map((receiver) => aRecord(receiver, [attempted(receiver.deliveries[0]!.id)])));
    await dispatched(store, ['evt_2']);
    await dispatched(store, ['evt_3'], { subjectId: 'task_of_evt_1' });

    const about = await store.listDeliveriesAbout('acme', 'task_of_evt_1', 10);
    const attempts = await store.listAttemptsByDelivery(about.map(({ id }) => id));

    expect(about.map(({ eventId, endpointId }) => [eventId, endpointId]).sort()).toEqual([
      ['evt_1', 'whe_1'],
      ['evt_1', 'whe_2'],
      ['evt_3', 'whe_1'],
      ['evt_3', 'whe_2'],
    ]);
    expect(about.map(({ id }) => id)).toEqual(
      about
        .map(({ id }) => id)
        .sort()
        .toReversed(),
    );
    expect(about.map(({ id, eventId }) => [eventId, attempts.get(id)?.map(({ number }) => number)])).toEqual(
      about.map(({ eventId }) => [eventId, eventId === 'evt_1' ? [1] : []]),
    );
    expect(await store.listDeliveriesAbout('acme', 'task_of_evt_1', 1)).toEqual(about.slice(0, 1));
    expect(await store.listDeliveriesAbout('rival', 'task_of_evt_1', 10)).toEqual([]);
    expect((await store.listAttemptsByDelivery([])).size).toBe(0);
  });

  test('a pending delivery goes to the URL that its endpoint has now', async () => {
    await dispatched(store, ['evt_1']);
    await store.updateEndpoint('acme', 'whe_1', { url: 'https://new.example/', at: AT });

    expect((await leased(store))[0]?.deliveries[0]?.url).toBe('https://new.example/');
  });

  describe('resend', () => {
    test.each(['delivered', 'failed'] as const)(
      'makes one that is %s due at once, under a new schedule',
      async (state) => {
        const { evt_1: id } = await ended({ evt_1: state });

        expect(await store.resend('acme', id!, AT + 50)).toBe(true);

        expect(await store.findDelivery('acme', id!)).toMatchObject({
          state: 'pending',
          attempts: 1,
          attemptsBefore: 1,
          dueAt: AT + 50,
          endedAt: undefined,
        });
        expect((await leased(store, { now: AT + 50 }))[0]?.deliveries.map((one) => one.id)).toEqual([id]);
      },
    );

    test('makes one that is pending due at once too, under a new schedule', async () => {
      const { evt_1: id } = await ended({ evt_1: 'pending' });

      expect(await store.resend('acme', id!, AT + 50)).toBe(true);

      expect(await store.findDelivery('acme', id!)).toMatchObject({
        attempts: 1,
        attemptsBefore: 1,
        dueAt: AT + 50,
        nextAttemptAt: AT + 50,
      });
      expect(await dueAt(sql, 'whe_1')).toBe(AT + 50);
    });

    test('does not wait for an open circuit', async () => {
      const { evt_1: id } = await ended({ evt_1: 'failed' });
      await dispatched(store, ['evt_2']);
      const [receiver] = await leased(store);
      await store.recordAttempts([aRecord(receiver!, [attempted(receiver!.deliveries[0]!.id)], { health: FAILING })]);

      await store.resend('acme', id!, AT + 50);

      expect(await dueAt(sql, 'whe_1')).toBe(AT + 50);
      expect((await store.findDelivery('acme', id!))?.nextAttemptAt).toBe(AT + 50);
      // a trial, because the receiver has shown no success
      expect((await leased(store, { now: AT + 50 })).flatMap(({ deliveries }) => deliveries)).toHaveLength(1);
    });

    test('of a delivery under a lease is due after the return', async () => {
      const { evt_1: id } = await ended({ evt_1: 'failed' });
      await dispatched(store, ['evt_2']);
      const [receiver] = await leased(store);

      await store.resend('acme', id!, AT + 50);
      expect(await leased(store, { now: AT + 50 })).toEqual([]);
      await store.recordAttempts([aRecord(receiver!, [attempted(receiver!.deliveries[0]!.id)])]);

      expect(await dueAt(sql, 'whe_1')).toBe(AT + 50);
    });

    test('makes the receiver again that was idle for long', async () => {
      const { evt_1: id } = await ended({ evt_1: 'failed' });
      await sql.write('DELETE FROM webhook_receivers');

      await store.resend('acme', id!, AT + 50);

      expect(await leased(store, { now: AT + 50 })).toHaveLength(1);
    });

    test('knows no delivery of another account', async () => {
      const { evt_1: id } = await ended({ evt_1: 'failed' });

      expect(await store.resend('rival', id!, AT + 50)).toBe(false);
      expect(await store.resend('acme', 'whd_x', AT + 50)).toBe(false);
      expect(await store.findDelivery('acme', id!)).toMatchObject({ state: 'failed' });
    });
  });

  describe('the recovery of a receiver', () => {
    /** A receiver with these deliveries, each due later because its attempt failed. */
    const failing = async (status: number, ...ids: readonly string[]): Promise<void> => {
      await dispatched(store, ids);
      const [receiver] = await leased(store);
      const failed = receiver!.deliveries.map(({ id }) => attempted(id, { status, dueAt: AT + 3_600_000 }));
      await store.recordAttempts([aRecord(receiver!, failed, { health: FAILING })]);
    };
    /** A further event is delivered. */
    const succeed = async (id: string, at: number): Promise<void> => {
      await dispatched(store, [id], { createdAt: at });
      const [receiver] = await leased(store, { now: at });
      const delivered = receiver!.deliveries.map((one) => attempted(one.id, { number: one.attempts + 1, at }));
      await store.recordAttempts([aRecord(receiver!, delivered, { hasRecovered: true, at })]);
    };

    test('makes all that waits due at once', async () => {
      await failing(500, 'evt_1', 'evt_2', 'evt_3');
      const at = FAILING.openUntil!;
      await succeed('evt_4', at);

      expect(await dueAt(sql, 'whe_1')).toBe(at);
      const [receiver] = await leased(store, { now: at });
      expect(receiver?.deliveries.map(({ eventId }) => eventId)).toEqual(['evt_1', 'evt_2', 'evt_3']);
    });

    test('leaves those alone whose receiver asked for a rest', async () => {
      await failing(429, 'evt_1');
      await succeed('evt_2', FAILING.openUntil!);

      expect(await dueAt(sql, 'whe_1')).toBe(AT + 3_600_000);
    });

    test('uses up no schedule of a delivery that fails while others succeed', async () => {
      await failing(500, 'evt_1');
      let at = FAILING.openUntil!;
      for (let round = 2; round < 7; round += 1) {
        await succeed(`evt_${round}`, at);
        const [receiver] = await leased(store, { now: at });
        if (receiver === undefined) break;
        const [again] = receiver.deliveries;
        const failed = attempted(again!.id, { number: again!.attempts + 1, status: 500, at, dueAt: AT + 3_600_000 });
        await store.recordAttempts([aRecord(receiver, [failed], { health: { ...FAILING, openUntil: undefined }, at })]);
        at += 1000;
      }

      expect((await deliveriesOf(store, 'whe_1'))[0]).toMatchObject({ attempts: 4, dueAt: AT + 3_600_000 });
    });
  });

  describe('the time of the next attempt', () => {
    const failedOnce = async (openUntil: number | undefined): Promise<void> => {
      await dispatched(store, ['evt_1']);
      const [receiver] = await leased(store);
      const failed = attempted(receiver!.deliveries[0]!.id, { status: 500, dueAt: AT + 7000 });
      await store.recordAttempts([aRecord(receiver!, [failed], { health: { ...FAILING, openUntil } })]);
    };
    const next = async (): Promise<number | undefined> => (await deliveriesOf(store, 'whe_1'))[0]?.nextAttemptAt;

    test.each([
      ['its due time', undefined, AT + 7000],
      ['its due time if its circuit lets it through before', AT + 5000, AT + 7000],
      ['the end of the wait of its circuit', AT + 60_000, AT + 60_000],
    ])('is %s, and no attempt is made earlier', async (_what, openUntil, at) => {
      await failedOnce(openUntil);

      expect(await next()).toBe(at);
      expect(await leased(store, { now: at - 1 })).toEqual([]);
      expect(await leased(store, { now: at })).toHaveLength(1);
    });

    test('is none while its endpoint is disabled', async () => {
      await failedOnce(undefined);
      await sql.write("UPDATE webhook_endpoints SET disabled_at = 1, disabled_reason = 'gone' WHERE id = 'whe_1'");

      expect(await next()).toBeUndefined();
    });

    test('is none once it has ended', async () => {
      await ended({ evt_1: 'failed' });

      expect(await next()).toBeUndefined();
    });
  });

  test('enabling an endpoint makes its pending deliveries due at once, under a new schedule', async () => {
    await dispatched(store, ['evt_1', 'evt_2']);
    const [receiver] = await leased(store);
    const failed = receiver!.deliveries.map(({ id }) => attempted(id, { status: 500, dueAt: AT + 3_600_000 }));
    await store.recordAttempts([aRecord(receiver!, failed, { health: FAILING })]);

    await store.updateEndpoint('acme', 'whe_1', { enabled: true, at: AT + 50 });

    expect((await deliveriesOf(store, 'whe_1')).map((one) => [one.nextAttemptAt, one.attemptsBefore])).toEqual([
      [AT + 50, 1],
      [AT + 50, 1],
    ]);
    expect((await leased(store, { now: AT + 50 })).flatMap(({ deliveries }) => deliveries)).toHaveLength(2);
  });

  describe('resendFailed', () => {
    const since = (from: number, limit = 10): Promise<number> =>
      store.resendFailed({ accountId: 'acme', endpointId: 'whe_1', since: from, limit }, AT + 50);

    test('makes failed and pending ones due at once, under a new schedule, and no others', async () => {
      await ended({ evt_1: 'delivered', evt_2: 'failed', evt_3: 'pending', evt_4: 'failed' });

      expect(await since(0)).toBe(3);

      expect(
        (await deliveriesOf(store, 'whe_1')).map(({ state, dueAt: at, attemptsBefore }) => [state, at, attemptsBefore]),
      ).toEqual([
        ['delivered', undefined, 0],
        ['pending', AT + 50, 1],
        ['pending', AT + 50, 1],
        ['pending', AT + 50, 1],
      ]);
      expect(await dueAt(sql, 'whe_1')).toBe(AT + 50);
      expect(await since(0)).toBe(0);
    });

    test('takes the oldest first, up to the limit', async () => {
      await ended({ evt_1: 'failed', evt_2: 'failed', evt_3: 'failed' });

      expect(await since(0, 2)).toBe(2);

      expect((await deliveriesOf(store, 'whe_1')).map(({ state }) => state)).toEqual(['pending', 'pending', 'failed']);
    });

    test('takes those that were made at the time or later', async () => {
      const clock = fakeClock();
      const timed = on(sql, newIds(clock)).store;
      await timed.addEvent({ id: 'evt_1', accountId: 'acme', type: 'job.failed', subjectId: 'job_1', createdAt: AT });
      await timed.dispatch({ now: AT, limit: 10 });
      const made = clock.now();
      const [receiver] = await leased(store);
      await store.recordAttempts([
        aRecord(receiver!, [attempted(receiver!.deliveries[0]!.id, { state: 'failed', status: 500 })]),
      ]);

      expect(await since(made + 1)).toBe(0);
      expect(await since(made)).toBe(1);
    });

    test('leaves other endpoints and accounts alone', async () => {
      await ended({ evt_1: 'failed' });

      expect(await store.resendFailed({ accountId: 'rival', endpointId: 'whe_1', since: 0, limit: 10 }, AT + 50)).toBe(
        0,
      );
      expect(await store.resendFailed({ accountId: 'acme', endpointId: 'default', since: 0, limit: 10 }, AT + 50)).toBe(
        0,
      );
      expect((await deliveriesOf(store, 'whe_1'))[0]?.state).toBe('failed');
    });
  });
}
