import { beforeEach, expect, test } from '@jest/globals';
import { newIds } from '@reelgate/platform/ids';
import type { Sql } from '@reelgate/platform/sql/sql';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { WebhookStore } from '../../src/store/webhook-store.ts';
import { AT, aRecord, added, anEvent, attempted, deliveriesOf, dispatched, leased } from './opened-webhooks.ts';
import type { OpenWebhooks, OpenedWebhooks } from './opened-webhooks.ts';

/** The removal of what is old, and the numbers that operators watch. */
export function webhookRetentionConformance(open: OpenWebhooks): void {
  let store: WebhookStore;
  let other: WebhookStore;
  let sql: Sql;
  let on: OpenedWebhooks['on'];
  beforeEach(async () => {
    ({ store, other, sql, on } = await open());
  });
  /** Delivers events at the time of a clock whose ids tell it. */
  const deliveredAt = async (at: number, ids: readonly string[]): Promise<void> => {
    const clock = fakeClock(at);
    const timed = on(sql, newIds(clock)).store;
    for (const id of ids) await timed.addEvent(anEvent(id, { createdAt: at }));
    await timed.dispatch({ now: at, limit: 1000 });
    const [receiver] = await leased(timed, { now: at, deliveries: 1000 });
    await timed.recordAttempts([
      aRecord(
        receiver!,
        receiver!.deliveries.map(({ id }) => attempted(id)),
        { at },
      ),
    ]);
  };
  const rows = async (): Promise<Record<string, number>> => {
    const counted: Record<string, number> = {};
    for (const table of ['events', 'webhook_deliveries', 'webhook_attempts', 'webhook_receivers'])
      counted[table] = Number((await sql.read(`SELECT COUNT(*) AS count FROM ${table}`))[0]?.['count']);
    return counted;
  };

  test('what ended before the time is removed with its attempts, and the rest stays', async () => {
    await added(store, 'whe_1');
    await deliveredAt(AT, ['evt_1', 'evt_2']);
    await deliveredAt(AT + 1000, ['evt_3']);

    // two deliveries and two events
    expect(await store.removeOldWebhooks({ before: AT + 1000, limit: 100 })).toBe(4);
    expect(await store.removeOldWebhooks({ before: AT + 1000, limit: 100 })).toBe(0);

    expect((await deliveriesOf(store, 'whe_1')).map(({ eventId }) => eventId)).toEqual(['evt_3']);
    expect(await rows()).toEqual({ events: 1, webhook_deliveries: 1, webhook_attempts: 1, webhook_receivers: 1 });
    expect(await store.findPlace('acme', 'evt_3')).toBe(3);
  });

  test('a receiver with nothing pending is removed when it was idle that long', async () => {
    await added(store, 'whe_1');
    await deliveredAt(AT, ['evt_1']);
    await dispatched(store, ['evt_2'], { url: 'https://site.example/', accountId: 'rival' });

    // a delivery, two events and a receiver
    expect(await store.removeOldWebhooks({ before: AT + 1, limit: 100 })).toBe(4);

    expect((await leased(store)).map(({ id }) => id)).toEqual(['rival https://site.example']);
  });

  test('a pending delivery and an event that is not dispatched stay, however old', async () => {
    await added(store, 'whe_1');
    await dispatched(store, ['evt_1']);
    await store.addEvent(anEvent('evt_2'));

    expect(await store.removeOldWebhooks({ before: AT + 1000, limit: 100 })).toBe(1);

    expect(await deliveriesOf(store, 'whe_1')).toHaveLength(1);
    expect((await store.countUndispatchedEvents()).count).toBe(1);
  });

  test('a removal takes at most as many of each as its limit, and several removals remove all once', async () => {
    await added(store, 'whe_1');
    await deliveredAt(
      AT,
      Array.from({ length: 30 }, (_, index) => `evt_${index}`),
    );

    const first = await Promise.all(
      [store, other, store].map((by) => by.removeOldWebhooks({ before: AT + 1, limit: 10 })),
    );
    let removed = first.reduce((sum, one) => sum + one, 0);
    for (let rounds = 0; rounds < 10; rounds += 1)
      removed += await store.removeOldWebhooks({ before: AT + 1, limit: 10 });

    expect(Math.max(...first)).toBeLessThanOrEqual(30);
    expect(removed).toBe(30 + 30 + 1);
    expect(await rows()).toEqual({ events: 0, webhook_deliveries: 0, webhook_attempts: 0, webhook_receivers: 0 });
  });

  test('a delivery that was resent is not removed', async () => {
    await added(store, 'whe_1');
    await deliveredAt(AT, ['evt_1']);
    const [delivery] = await deliveriesOf(store, 'whe_1');
    await store.resend('acme', delivery!.id, AT + 5);

    await store.removeOldWebhooks({ before: AT + 1000, limit: 100 });

    expect(await deliveriesOf(store, 'whe_1')).toHaveLength(1);
    expect(await leased(store, { now: AT + 5 })).toHaveLength(1);
  });

  test('the numbers count what waits', async () => {
    expect(await store.countUndispatchedEvents()).toEqual({ count: 0, oldestAt: undefined });
    expect(await store.countPendingDeliveries()).toEqual({ count: 0, oldestDueAt: undefined });
    await added(store, 'whe_1');
    await added(store, 'whe_2', { disabled: { at: AT, reason: 'failing' } });
    await added(store, 'whe_3', { disabled: { at: AT, reason: 'by_owner' } });
    await store.addEvent(anEvent('evt_1', { createdAt: AT + 1 }));
    await store.addEvent(anEvent('evt_2'));

    expect(await store.countUndispatchedEvents()).toEqual({ count: 2, oldestAt: AT });
    expect(await store.countDisabledEndpoints()).toBe(1);
    await store.dispatch({ now: AT + 7, limit: 10 });
    expect(await store.countPendingDeliveries()).toEqual({ count: 2, oldestDueAt: AT + 7 });
    expect(await store.countUndispatchedEvents()).toEqual({ count: 0, oldestAt: undefined });
  });
}
