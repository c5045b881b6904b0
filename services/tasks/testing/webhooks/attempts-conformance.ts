import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Sql } from '@reelgate/platform/sql/sql';
import { HEALTHY } from '../../src/domain/webhook.ts';
import type { Delivery } from '../../src/domain/webhook.ts';
import type { LeasedReceiver, WebhookStore } from '../../src/store/webhook-store.ts';
import {
  AT,
  FAILING,
  UNTIL,
  aRecord,
  added,
  attempted,
  deliveriesOf,
  dispatched,
  dueAt,
  leased,
} from './opened-webhooks.ts';
import type { OpenWebhooks } from './opened-webhooks.ts';

/** What follows from attempts. */
export function attemptsConformance(open: OpenWebhooks): void {
  let store: WebhookStore;
  let other: WebhookStore;
  let sql: Sql;
  beforeEach(async () => {
    ({ store, other, sql } = await open());
  });
  /** An endpoint with pending deliveries, under a lease. */
  const leasedWith = async (...eventIds: readonly string[]): Promise<LeasedReceiver> => {
    await added(store, 'whe_1');
    await dispatched(store, eventIds);
    const [receiver] = await leased(store);
    return receiver!;
  };
  const only = async (): Promise<Delivery> => (await deliveriesOf(store, 'whe_1'))[0]!;

  test.each([
    [
      'a success ends it as delivered',
      attempted('', { state: 'delivered', status: 204 }),
      { state: 'delivered', dueAt: undefined, endedAt: AT + 3, status: 204, error: 'http 204' },
    ],
    [
      'a failure makes it due again',
      attempted('', { state: 'pending', status: 503, dueAt: AT + 5000 }),
      { state: 'pending', dueAt: AT + 5000, endedAt: undefined, status: 503, error: 'http 503' },
    ],
    [
      'the last failure ends it as failed',
      attempted('', { state: 'failed', status: 0 }),
      { state: 'failed', dueAt: undefined, endedAt: AT + 3, status: 0, error: 'http 0' },
    ],
  ])('of a delivery, %s', async (_what, outcome, expected) => {
    const receiver = await leasedWith('evt_1');
    const record = { ...outcome, deliveryId: receiver.deliveries[0]!.id };

    expect(await store.recordAttempts([aRecord(receiver, [record], { at: AT + 3 })])).toEqual([]);

    expect(await only()).toMatchObject({ ...expected, attempts: 1 });
    expect(await store.listAttempts(record.deliveryId)).toEqual([record.attempt]);
    expect(await dueAt(sql, 'whe_1')).toBe(expected.dueAt ?? null);
  });

  test('the health of the receiver is written', async () => {
    const receiver = await leasedWith('evt_1');

    await store.recordAttempts([aRecord(receiver, [], { health: FAILING, returned: false })]);
    expect((await store.readHealth(['whe_1'])).get('whe_1')).toEqual(FAILING);

    await store.recordAttempts([aRecord(receiver, [], { health: HEALTHY })]);
    expect((await store.readHealth(['whe_1'])).get('whe_1')).toEqual(HEALTHY);
  });

  test('a lease that is not given back goes on', async () => {
    const receiver = await leasedWith('evt_1', 'evt_2');
    const [first, second] = receiver.deliveries;

    await store.recordAttempts([aRecord(receiver, [attempted(first!.id)], { returned: false })]);
    expect(await leased(other)).toEqual([]);
    expect(await store.recordAttempts([aRecord(receiver, [attempted(second!.id)])])).toEqual([]);

    expect((await deliveriesOf(store, 'whe_1')).map(({ state }) => state)).toEqual(['delivered', 'delivered']);
  });

  test('a receiver that is given back is due with the first of its deliveries, but not before its circuit', async () => {
    const receiver = await leasedWith('evt_1', 'evt_2');
    const [first, second] = receiver.deliveries;
    const failures = [
      attempted(first!.id, { status: 500, dueAt: AT + 9000 }),
      attempted(second!.id, { status: 500, dueAt: AT + 7000 }),
    ];

    await store.recordAttempts([aRecord(receiver, failures)]);
    expect(await dueAt(sql, 'whe_1')).toBe(AT + 7000);

    const [again] = await leased(store, { now: AT + 7000 });
    await store.recordAttempts([aRecord(again!, [], { health: { ...FAILING, openUntil: AT + 20_000 } })]);
    expect(await dueAt(sql, 'whe_1')).toBe(AT + 20_000);
  });

  describe('under a lease that does not hold', () => {
    test.each([
      ['it has another name', (receiver: LeasedReceiver) => ({ ...receiver, lease: 'lease_x' })],
      ['its receiver is unknown', (receiver: LeasedReceiver) => ({ ...receiver, id: 'whe_9' })],
    ])('nothing is written because %s', async (_what, named) => {
      const receiver = await leasedWith('evt_1');
      const { id, lease } = named(receiver);
      const record = aRecord({ id, lease }, [attempted(receiver.deliveries[0]!.id)], {
        health: FAILING,
        disable: 'gone',
      });

      expect(await store.recordAttempts([record])).toEqual([id]);

      expect(await only()).toMatchObject({ state: 'pending', attempts: 0, dueAt: AT });
      expect(await store.listAttempts(receiver.deliveries[0]!.id)).toEqual([]);
      expect((await store.readHealth(['whe_1'])).get('whe_1')).toEqual(HEALTHY);
      expect((await store.findEndpoint('acme', 'whe_1'))?.disabled).toBeUndefined();
    });

    test('the worker that has the next lease is not disturbed', async () => {
      const late = await leasedWith('evt_1');
      const [next] = await leased(other, { now: UNTIL });
      const delivery = late.deliveries[0]!.id;

      expect(await store.recordAttempts([aRecord(late, [attempted(delivery, { status: 500 })])])).toEqual(['whe_1']);
      expect(await other.recordAttempts([aRecord(next!, [attempted(delivery)])])).toEqual([]);

      expect(await only()).toMatchObject({ state: 'delivered', attempts: 1 });
    });

    test('the records of other receivers are written', async () => {
      const receiver = await leasedWith('evt_1');
      await dispatched(store, ['evt_2'], { url: 'https://site.example/' });
      const [second] = await leased(store);

      const lost = await store.recordAttempts([
        aRecord({ id: receiver.id, lease: 'lease_x' }, [attempted(receiver.deliveries[0]!.id)]),
        aRecord(second!, [attempted(second!.deliveries[0]!.id)]),
      ]);

      expect(lost).toEqual(['whe_1']);
      expect((await store.findDelivery('acme', second!.deliveries[0]!.id))?.state).toBe('delivered');
    });
  });

  describe('late and repeated records', () => {
    test('a record that comes twice is written once', async () => {
      const receiver = await leasedWith('evt_1');
      const record = aRecord(receiver, [attempted(receiver.deliveries[0]!.id, { status: 500, dueAt: AT + 9 })], {
        returned: false,
      });

      await store.recordAttempts([record]);
      await store.recordAttempts([record]);

      expect(await only()).toMatchObject({ state: 'pending', attempts: 1 });
      expect(await store.listAttempts(receiver.deliveries[0]!.id)).toHaveLength(1);
    });

    test('another attempt with a number that is taken gets the next one', async () => {
      const receiver = await leasedWith('evt_1');
      const { id } = receiver.deliveries[0]!;
      for (const at of [AT, AT + 1])
        await store.recordAttempts([
          aRecord(receiver, [attempted(id, { status: 500, at, dueAt: AT + 9 })], { returned: false }),
        ]);

      expect((await store.listAttempts(id)).map(({ number, at }) => [number, at])).toEqual([
        [1, AT],
        [2, AT + 1],
      ]);
      expect(await only()).toMatchObject({ attempts: 2 });
    });

    test('two attempts of a delivery in one record leave what the second one decided', async () => {
      const receiver = await leasedWith('evt_1');
      const { id } = receiver.deliveries[0]!;

      await store.recordAttempts([
        aRecord(receiver, [
          attempted(id, { status: 500, dueAt: AT + 9 }),
          attempted(id, { number: 2, at: AT + 1, status: 200 }),
        ]),
      ]);

      expect(await only()).toMatchObject({ state: 'delivered', attempts: 2, status: 200, error: '' });
    });

    test.each(['delivered', 'failed'] as const)(
      'an attempt of a delivery that ended as %s is kept, and the end stays',
      async (state) => {
        const receiver = await leasedWith('evt_1');
        const { id } = receiver.deliveries[0]!;
        await store.recordAttempts([aRecord(receiver, [attempted(id, { state, status: 418 })], { returned: false })]);

        await store.recordAttempts([
          aRecord(receiver, [attempted(id, { status: 500, at: AT + 1, dueAt: AT + 9 })], { at: AT + 1 }),
        ]);

        expect(await only()).toMatchObject({ state, status: 418, endedAt: AT, dueAt: undefined, attempts: 2 });
        expect((await store.listAttempts(id)).map(({ status }) => status)).toEqual([418, 500]);
        expect(await dueAt(sql, 'whe_1')).toBeNull();
      },
    );

    test('an attempt that ends after a resend counts in the new schedule', async () => {
      const receiver = await leasedWith('evt_1');
      const { id } = receiver.deliveries[0]!;
      await store.recordAttempts([
        aRecord(receiver, [attempted(id, { state: 'failed', status: 500 })], { returned: false }),
      ]);
      expect(await store.resend('acme', id, AT + 1)).toBe(true);

      await store.recordAttempts([aRecord(receiver, [attempted(id, { at: AT + 2 })])]);

      expect(await only()).toMatchObject({ state: 'delivered', attempts: 2, attemptsBefore: 1 });
    });

    test('the delivery of another receiver is not touched', async () => {
      const receiver = await leasedWith('evt_1');
      await dispatched(store, ['evt_2'], { url: 'https://site.example/' });
      const [foreign] = await deliveriesOf(store, 'default');

      await store.recordAttempts([aRecord(receiver, [attempted(foreign!.id)])]);

      expect(await store.findDelivery('acme', foreign!.id)).toEqual(foreign);
      expect(await store.listAttempts(foreign!.id)).toEqual([]);
    });
  });

  describe('an endpoint that is disabled', () => {
    test.each(['gone', 'failing'] as const)('because it is %s has no pending deliveries', async (reason) => {
      const receiver = await leasedWith('evt_1', 'evt_2');
      const [first] = receiver.deliveries;
      const record = aRecord(receiver, [attempted(first!.id, { state: 'failed', status: 410 })], {
        disable: reason,
        at: AT + 3,
      });

      await store.recordAttempts([record]);

      expect((await store.findEndpoint('acme', 'whe_1'))?.disabled).toEqual({ at: AT + 3, reason });
      expect(await deliveriesOf(store, 'whe_1')).toEqual([
        expect.objectContaining({ state: 'failed', error: 'http 410', status: 410 }),
        expect.objectContaining({ state: 'failed', error: 'endpoint_disabled', dueAt: undefined, endedAt: AT + 3 }),
      ]);
      expect(await dueAt(sql, 'whe_1')).toBeNull();
      expect(await leased(store, { now: UNTIL + 1 })).toEqual([]);
      expect(await store.countDisabledEndpoints()).toBe(1);
    });

    test('hears no further events, and streams have them', async () => {
      const receiver = await leasedWith('evt_1');
      await store.recordAttempts([aRecord(receiver, [], { disable: 'gone' })]);

      await dispatched(store, ['evt_2']);

      expect(await deliveriesOf(store, 'whe_1')).toHaveLength(1);
      expect(await store.eventsAfter({ accountId: 'acme' }, 0, 10)).toHaveLength(2);
    });

    test('by a worker while its owner changes it is not locked forever', async () => {
      const receiver = await leasedWith('evt_1');

      await Promise.all([
        store.recordAttempts([aRecord(receiver, [], { disable: 'failing', returned: false })]),
        other.updateEndpoint('acme', 'whe_1', { enabled: false, at: AT }),
        other.resendFailed({ accountId: 'acme', endpointId: 'whe_1', since: 0, limit: 10 }, AT),
        store.removeEndpoint('acme', 'whe_1', AT),
      ]);

      expect(await store.findEndpoint('acme', 'whe_1')).toBeUndefined();
    });

    test('more pending deliveries than one statement ends all end, the rest when they are due', async () => {
      const ids = Array.from({ length: 1003 }, (_, index) => `evt_${index}`);
      await added(store, 'whe_1');
      await dispatched(store, [ids[0]!]);
      await sql.write(
        `INSERT INTO webhook_deliveries
           (id, event_id, event_type, subject_id, receiver_id, endpoint_id, account_id, due_at, created_at, state)
         SELECT 'whd_' || many.id, 'evt_' || many.id, event_type, subject_id, receiver_id, endpoint_id, account_id,
           due_at + 1, created_at, state
         FROM webhook_deliveries, (WITH RECURSIVE many(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM many WHERE id < 1003)
           SELECT id FROM many) AS many`,
      );

      await store.updateEndpoint('acme', 'whe_1', { enabled: false, at: AT });
      expect((await store.countPendingDeliveries()).count).toBe(4);
      expect(await leased(store, { now: AT + 1 })).toEqual([]);

      expect(await store.countPendingDeliveries()).toEqual({ count: 0, oldestDueAt: undefined });
    });
  });

  test('many attempts of many receivers are written at once', async () => {
    for (let index = 0; index < 20; index += 1) await added(store, `whe_${index}`);
    await dispatched(
      store,
      Array.from({ length: 15 }, (_, index) => `evt_${index}`),
    );
    const receivers = await leased(store);
    expect(receivers).toHaveLength(20);

    await store.recordAttempts(
      receivers.map((receiver) =>
        aRecord(
          receiver,
          receiver.deliveries.map(({ id }) => attempted(id)),
        ),
      ),
    );

    expect(await store.countPendingDeliveries()).toEqual({ count: 0, oldestDueAt: undefined });
    const [row] = await sql.read('SELECT COUNT(*) AS count FROM webhook_attempts');
    expect(Number(row?.['count'])).toBe(300);
  });

  test('no record is written for no records', async () => {
    expect(await store.recordAttempts([])).toEqual([]);
  });
}
