import { beforeEach, describe, expect, test } from '@jest/globals';
import { beforeCommit } from '@reelgate/platform/testing/before-commit';
import type { Sql } from '@reelgate/platform/sql/sql';
import { DEFAULT_ENDPOINT, HEALTHY } from '../../src/domain/webhook.ts';
import type { LeasedReceiver, WebhookStore } from '../../src/store/webhook-store.ts';
import {
  AT,
  FAILING,
  UNTIL,
  aRecord,
  added,
  anEvent,
  attempted,
  deliveriesOf,
  dispatched,
  dueAt,
  leased,
} from './opened-webhooks.ts';
import type { OpenWebhooks, OpenedWebhooks } from './opened-webhooks.ts';

const namesOf = (receivers: readonly LeasedReceiver[]): string[] => receivers.map(({ id }) => id).toSorted();

/** Which worker has a receiver, and until when. */
export function leasesConformance(open: OpenWebhooks): void {
  let store: WebhookStore;
  let other: WebhookStore;
  let sql: Sql;
  let on: OpenedWebhooks['on'];
  beforeEach(async () => {
    ({ store, other, sql, on } = await open());
  });
  /** One event for each of these origins of the account. */
  const origins = async (accountId: string, count: number, createdAt = AT): Promise<void> => {
    for (let index = 0; index < count; index += 1)
      await store.addEvent(
        anEvent(`evt_${accountId}_${index}_${createdAt}`, {
          accountId,
          createdAt,
          url: `https://${accountId}-${index}.example/`,
        }),
      );
    await store.dispatch({ now: createdAt, limit: 1000 });
  };
  const countsOf = (receivers: readonly LeasedReceiver[]): Record<string, number> =>
    Object.fromEntries(
      Object.entries(Object.groupBy(receivers, ({ accountId }) => accountId)).map(([account, some]) => [
        account,
        some?.length ?? 0,
      ]),
    );

  test('a leased receiver comes with its endpoint, its health and its due deliveries, the oldest first', async () => {
    const endpoint = await added(store, 'whe_1');
    await dispatched(store, ['evt_1', 'evt_2', 'evt_3']);

    const [receiver, ...more] = await leased(store, { lease: 'lease_a' });

    expect(more).toEqual([]);
    expect(receiver).toEqual({
      id: 'whe_1',
      accountId: 'acme',
      endpointId: 'whe_1',
      lease: 'lease_a',
      health: HEALTHY,
      circuit: 0,
      endpoint,
      deliveries: await deliveriesOf(store, 'whe_1'),
    });
    expect(receiver?.deliveries.map(({ eventId }) => eventId)).toEqual(['evt_1', 'evt_2', 'evt_3']);
  });

  test('the receiver of URLs that requests carry has no endpoint', async () => {
    await dispatched(store, ['evt_1'], { url: 'https://site.example/hook?a' });

    const [receiver] = await leased(store);

    expect(receiver).toMatchObject({ id: 'acme https://site.example', endpointId: DEFAULT_ENDPOINT });
    expect(receiver?.endpoint).toBeUndefined();
    expect(receiver?.deliveries.map(({ url }) => url)).toEqual(['https://site.example/hook?a']);
  });

  test('a receiver is leased once until its lease ends, and then again with the same deliveries', async () => {
    await added(store, 'whe_1');
    await dispatched(store, ['evt_1']);
    const first = await leased(store);
    await dispatched(store, ['evt_2'], { createdAt: AT + 1 });

    expect(await leased(other, { now: AT + 1 })).toEqual([]);
    expect(await leased(other, { now: UNTIL - 1 })).toEqual([]);
    const again = await leased(other, { now: UNTIL });
    expect(again.flatMap(({ deliveries }) => deliveries.map(({ eventId }) => eventId))).toEqual(['evt_1', 'evt_2']);
    expect(again[0]?.lease).not.toBe(first[0]?.lease);
  });

  test('a receiver brings at most as many deliveries as asked for, and one if its circuit is half open', async () => {
    await added(store, 'whe_1');
    await dispatched(store, ['evt_1', 'evt_2', 'evt_3', 'evt_4']);
    const [receiver] = await leased(store, { deliveries: 3 });
    expect(receiver?.deliveries).toHaveLength(3);
    await store.recordAttempts([aRecord(receiver!, [], { health: FAILING })]);

    expect(await leased(store, { now: FAILING.openUntil! - 1 })).toEqual([]);
    const [halfOpen] = await leased(store, { now: FAILING.openUntil! });
    expect(halfOpen?.deliveries.map(({ eventId }) => eventId)).toEqual(['evt_1']);
    expect(halfOpen?.health).toEqual(FAILING);
  });

  test('an expired lease waits for the circuit that opened under it', async () => {
    await added(store, 'whe_1');
    await dispatched(store, ['evt_1']);
    const [receiver] = await leased(store);
    const health = { ...FAILING, openUntil: UNTIL + 500 };
    await store.recordAttempts([aRecord(receiver!, [], { health, returned: false })]);

    expect(await leased(store, { now: UNTIL + 499 })).toEqual([]);
    expect(await leased(store, { now: UNTIL + 500 })).toHaveLength(1);
  });

  test.each(['removed', 'disabled'] as const)(
    'a delivery to an endpoint that was %s during the dispatch ends, and its receiver is not leased',
    async (what) => {
      await added(store, 'whe_1');
      await dispatched(store, ['evt_1']);
      // as if the dispatch had read the endpoint before
      if (what === 'removed') await sql.write('DELETE FROM webhook_endpoints WHERE id = $1', ['whe_1']);
      else
        await sql.write("UPDATE webhook_endpoints SET disabled_at = 1, disabled_reason = 'gone' WHERE id = $1", [
          'whe_1',
        ]);

      expect(await leased(store)).toEqual([]);

      expect(await dueAt(sql, 'whe_1')).toBeNull();
      expect(await deliveriesOf(store, 'whe_1')).toEqual([
        expect.objectContaining({ state: 'failed', error: `endpoint_${what}`, endedAt: AT }),
      ]);
    },
  );

  test('a receiver whose deliveries are not due any more is given back until they are', async () => {
    await added(store, 'whe_1');
    await dispatched(store, ['evt_1']);
    const [receiver] = await leased(store);
    const failed = attempted(receiver!.deliveries[0]!.id, { status: 500, dueAt: UNTIL + 7000 });
    await store.recordAttempts([aRecord(receiver!, [failed], { returned: false })]);

    expect(await leased(store, { now: UNTIL })).toEqual([]);
    expect(await dueAt(sql, 'whe_1')).toBe(UNTIL + 7000);
    expect(await leased(store, { now: UNTIL + 7000 })).toHaveLength(1);
  });

  describe('the shares of accounts', () => {
    test('accounts get equal shares, with the receivers that they have leased counted', async () => {
      await origins('hog', 40);
      expect(countsOf(await leased(store, { limit: 4 }))).toEqual({ hog: 4 });
      await origins('small', 3, AT + 1);
      await origins('tiny', 1, AT + 2);

      expect(countsOf(await leased(store, { now: AT + 2, limit: 4 }))).toEqual({ small: 3, tiny: 1 });
      expect(countsOf(await leased(store, { now: AT + 2, limit: 4 }))).toEqual({ hog: 4 });
    });

    test('no account gets more than its bound, and those after it are found', async () => {
      await origins('hog', 40);
      await origins('small', 2, AT + 1);

      expect(countsOf(await leased(store, { now: AT + 1, perAccount: 5 }))).toEqual({ hog: 5, small: 2 });
      expect(countsOf(await leased(store, { now: AT + 1, perAccount: 5 }))).toEqual({});
      expect(countsOf(await leased(store, { now: AT + 1, perAccount: 7 }))).toEqual({ hog: 2 });
    });

    test('origins that requests name leave room for the endpoints of their account', async () => {
      await origins('acme', 40);
      for (const id of ['whe_1', 'whe_2', 'whe_3']) await added(store, id);
      await dispatched(store, ['evt_1'], { createdAt: AT + 1 });
      const at = { now: AT + 1, perAccount: 8, originsPerAccount: 4 };

      const taken = await leased(store, at);

      const ofOrigins = taken.filter(({ endpointId }) => endpointId === DEFAULT_ENDPOINT).length;
      expect([ofOrigins, taken.length - ofOrigins]).toEqual([4, 3]);
      expect(await leased(store, at)).toEqual([]);
      await dispatched(store, ['evt_2'], { accountId: 'rival', createdAt: AT + 1, url: 'https://rival.example/' });
      expect(countsOf(await leased(store, at))).toEqual({ rival: 1 });
    });

    test('an account at its bound hides none of the others, however many of its receivers are due', async () => {
      await origins('hog', 5);
      expect(await leased(store, { perAccount: 5 })).toHaveLength(5);
      await sql.write(
        `INSERT INTO webhook_receivers (id, account_id, endpoint_id, due_at, updated_at)
         SELECT 'hog ' || events.id || others.id, 'hog', 'default', 1, 1
         FROM events, (WITH RECURSIVE many(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM many WHERE id < 500)
           SELECT id FROM many) AS others`,
      );
      await origins('small', 1, AT + 1);

      expect(countsOf(await leased(store, { now: AT + 1, perAccount: 5 }))).toEqual({ small: 1 });
    });
  });

  test('two workers lease different receivers at the same moment, and all of them in the end', async () => {
    await origins('acme', 30);
    await origins('rival', 30);

    const rounds: LeasedReceiver[] = [];
    for (let round = 0; round < 20 && rounds.length < 60; round += 1)
      rounds.push(
        ...(
          await Promise.all([leased(store, { limit: 9 }), leased(other, { limit: 9 }), leased(store, { limit: 9 })])
        ).flat(),
      );

    expect(new Set(namesOf(rounds)).size).toBe(60);
    expect(rounds).toHaveLength(60);
  });

  test('held receivers are those whose lease is the named one, until another one is taken', async () => {
    const endpoint = await added(store, 'whe_1');
    await added(store, 'whe_2');
    await dispatched(store, ['evt_1']);
    await leased(store, { lease: 'lease_a' });
    const names = [
      { receiverId: 'whe_1', lease: 'lease_a' },
      { receiverId: 'whe_2', lease: 'lease_b' },
      { receiverId: 'whe_3', lease: 'lease_a' },
    ];

    expect(await store.findHeldReceivers(names)).toEqual(
      new Map([
        [
          'whe_1',
          {
            id: 'whe_1',
            accountId: 'acme',
            endpointId: 'whe_1',
            lease: 'lease_a',
            health: HEALTHY,
            circuit: 0,
            endpoint,
          },
        ],
      ]),
    );
    await leased(other, { now: UNTIL });
    expect(await store.findHeldReceivers(names)).toEqual(new Map());
    expect(await store.findHeldReceivers([])).toEqual(new Map());
  });

  describe('a renewal', () => {
    test('puts the end of a lease off, and no other worker gets the receiver meanwhile', async () => {
      await added(store, 'whe_1');
      await dispatched(store, ['evt_1']);
      await leased(store, { lease: 'lease_a', worker: 'gateway_1' });

      const kept = await store.renewLeases([{ receiverId: 'whe_1', lease: 'lease_a' }], UNTIL + 5000);

      expect(kept).toEqual(new Set(['whe_1']));
      expect(await leased(other, { now: UNTIL + 4999 })).toEqual([]);
      expect(await leased(other, { now: UNTIL + 5000 })).toHaveLength(1);
    });

    test('revives a lease that has ended, but not one that another worker has taken or that was given back', async () => {
      for (const id of ['whe_1', 'whe_2', 'whe_3']) await added(store, id);
      await dispatched(store, ['evt_1']);
      const [one, two, three] = (await leased(store, { lease: 'lease_a' })).toSorted((left, right) =>
        left.id < right.id ? -1 : 1,
      );
      const names = [one!, two!, three!].map(({ id, lease }) => ({ receiverId: id, lease }));
      await store.recordAttempts([aRecord(two!, [attempted(two!.deliveries[0]!.id)])]);
      await store.renewLeases(names.slice(2), UNTIL + 5000);
      expect(namesOf(await leased(other, { now: UNTIL, limit: 1 }))).toEqual(['whe_1']);

      expect(await store.renewLeases(names, UNTIL + 9000)).toEqual(new Set(['whe_3']));
      expect(await leased(other, { now: UNTIL + 8999 })).toEqual([]);
      expect(namesOf(await leased(other, { now: UNTIL + 9000 }))).toEqual(['whe_3']);
    });
  });

  test('the end of all leases makes their receivers due, and fences their workers off', async () => {
    await added(store, 'whe_1');
    await added(store, 'whe_2');
    await dispatched(store, ['evt_1']);
    const [receiver] = await leased(store, { limit: 1 });

    expect(await other.endLeases(AT + 1)).toBe(1);

    expect(await store.recordAttempts([aRecord(receiver!, [attempted(receiver!.deliveries[0]!.id)])])).toEqual([
      receiver!.id,
    ]);
    expect(namesOf(await leased(other, { now: AT + 1 }))).toEqual(['whe_1', 'whe_2']);
  });

  describe('a dispatch and the return of a lease at the same moment', () => {
    /** A database whose transactions wait for the gate before their commit. */
    const gated = (gate: Promise<undefined>, reached: () => void): Sql =>
      beforeCommit(sql, async () => {
        reached();
        await gate;
      });
    const delivered = (receiver: LeasedReceiver): Parameters<WebhookStore['recordAttempts']>[0] => [
      aRecord(
        receiver,
        receiver.deliveries.map(({ id }) => attempted(id)),
      ),
    ];

    test.each(['the dispatch', 'the return'] as const)('wake the receiver if %s commits first', async (first) => {
      if (sql.engine === 'sqlite') return;
      await added(store, 'whe_1');
      await dispatched(store, ['evt_1']);
      const [receiver] = await leased(store);
      await store.addEvent(anEvent('evt_2', { createdAt: AT + 9 }));
      const [gate, reached] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
      const slow = on(
        gated(gate.promise, () => {
          reached.resolve(undefined);
        }),
      ).store;
      const dispatch = (by: WebhookStore): Promise<unknown> => by.dispatch({ now: AT + 9, limit: 10 });
      const giveBack = (by: WebhookStore): Promise<unknown> => by.recordAttempts(delivered(receiver!));
      const [before, after] = first === 'the dispatch' ? [dispatch, giveBack] : [giveBack, dispatch];

      const one = before(slow);
      await reached.promise;
      const another = after(other);
      // it waits for the lock of the first one
      await expect(Promise.race([another, sql.read('SELECT pg_sleep(0.2)')])).resolves.toHaveLength(1);
      gate.resolve(undefined);
      await Promise.all([one, another]);

      expect(await dueAt(sql, 'whe_1')).toBe(AT + 9);
      expect((await leased(store, { now: AT + 9 }))[0]?.deliveries.map(({ eventId }) => eventId)).toEqual(['evt_2']);
    });

    test('leave no receiver asleep that has a pending delivery, in any order', async () => {
      for (const id of ['whe_1', 'whe_2', 'whe_3']) await added(store, id);
      for (let round = 0; round < 25; round += 1) {
        await store.addEvent(anEvent(`evt_${round}`));
        const receivers = await leased(store);
        await Promise.all([
          other.dispatch({ now: AT, limit: 10 }),
          store.recordAttempts(receivers.flatMap(delivered)),
          store.dispatch({ now: AT, limit: 10 }),
        ]);
      }
      const asleep = await sql.read(
        `SELECT d.id FROM webhook_deliveries AS d JOIN webhook_receivers AS r ON r.id = d.receiver_id
         WHERE d.due_at IS NOT NULL AND (r.due_at IS NULL OR r.due_at > d.due_at)`,
      );

      expect(asleep).toEqual([]);
    });
  });
}
