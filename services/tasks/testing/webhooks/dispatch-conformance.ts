import { setImmediate as otherWork } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import { beforeCommit } from '@reelgate/platform/testing/before-commit';
import type { Sql } from '@reelgate/platform/sql/sql';
import { DEFAULT_ENDPOINT } from '../../src/domain/webhook.ts';
import type { EventType } from '../../src/domain/webhook.ts';
import type { WebhookStore } from '../../src/store/webhook-store.ts';
import {
  AT,
  FAILING,
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

/** How events get their places and their deliveries. */
export function dispatchConformance(open: OpenWebhooks): void {
  let store: WebhookStore;
  let other: WebhookStore;
  let sql: Sql;
  let on: OpenedWebhooks['on'];
  beforeEach(async () => {
    ({ store, other, sql, on } = await open());
  });
  const receivers = async (accountId = 'acme'): Promise<string[]> =>
    (
      await sql.read<{ receiver_id: string }>(
        'SELECT receiver_id FROM webhook_deliveries WHERE account_id = $1 ORDER BY receiver_id',
        [accountId],
      )
    ).map(({ receiver_id }) => receiver_id);

  test('a dispatch without new events changes nothing', async () => {
    expect(await store.dispatch({ now: AT, limit: 10 })).toEqual({ events: 0, deliveries: 0 });
    await dispatched(store, ['evt_1']);
    expect(await store.dispatch({ now: AT, limit: 10 })).toEqual({ events: 0, deliveries: 0 });
  });

  test('events get places without a gap, the oldest first, as many at a time as the limit', async () => {
    for (const [id, createdAt] of [
      ['evt_1', AT + 3],
      ['evt_2', AT + 1],
      ['evt_3', AT + 2],
      ['evt_4', AT + 1],
    ] as const)
      await store.addEvent(anEvent(id, { createdAt }));

    expect(await store.dispatch({ now: AT + 3, limit: 3 })).toEqual({ events: 3, deliveries: 0 });
    expect(await store.dispatch({ now: AT + 3, limit: 3 })).toEqual({ events: 1, deliveries: 0 });

    const events = await store.eventsAfter({ accountId: 'acme' }, 0, 10);
    expect(events.map(({ id, seq }) => `${id} ${seq}`)).toEqual(['evt_2 1', 'evt_4 2', 'evt_3 3', 'evt_1 4']);
  });

  test.each<[EventType, string[]]>([
    ['video.completed', ['whe_all', 'whe_videos']],
    ['video.failed', ['whe_all']],
    ['balance.low', ['whe_all', 'whe_money']],
  ])('an event of %s is delivered to the enabled endpoints of its account that hear it', async (type, expected) => {
    await added(store, 'whe_all');
    await added(store, 'whe_videos', { eventTypes: ['video.completed', 'job.completed'] });
    await added(store, 'whe_money', { eventTypes: ['balance.low'] });
    await added(store, 'whe_off', { disabled: { at: AT, reason: 'by_owner' } });
    await added(store, 'whe_rival', { accountId: 'rival' });

    await dispatched(store, ['evt_1'], { type });

    expect(await receivers()).toEqual(expected);
    expect(await receivers('rival')).toEqual([]);
  });

  test('an event is delivered to endpoints in the order of their ids, whatever the plan', async () => {
    for (const id of ['whe_3', 'whe_1', 'whe_2']) await added(store, id);
    // a table that is known to be small is read in the order of its rows
    await sql.write('ANALYZE webhook_endpoints');
    await dispatched(store, ['evt_1']);

    const rows = await sql.read('SELECT receiver_id FROM webhook_deliveries ORDER BY id');
    expect(rows.map((row) => row['receiver_id'])).toEqual(['whe_1', 'whe_2', 'whe_3']);
  });

  test('a delivery has what its receiver needs', async () => {
    const { url } = await added(store, 'whe_1');
    await dispatched(store, ['evt_1'], { createdAt: AT + 4 });

    expect(await deliveriesOf(store, 'whe_1')).toEqual([
      {
        id: expect.stringMatching(/^whd_/),
        eventId: 'evt_1',
        eventType: 'video.completed',
        subjectId: 'task_of_evt_1',
        receiverId: 'whe_1',
        endpointId: 'whe_1',
        accountId: 'acme',
        url,
        state: 'pending',
        attempts: 0,
        attemptsBefore: 0,
        dueAt: AT + 4,
        nextAttemptAt: AT + 4,
        status: 0,
        error: '',
        createdAt: AT + 4,
        endedAt: undefined,
      },
    ]);
  });

  test.each([
    ['https://site.example/a?b=c', 'acme https://site.example'],
    ['https://site.example:8443/', 'acme https://site.example:8443'],
    ['https://SITE.example/d', 'acme https://site.example'],
  ])('the URL %s of a request is delivered to the receiver %s', async (url, receiverId) => {
    await added(store, 'whe_1');
    await dispatched(store, ['evt_1'], { url });

    expect(await deliveriesOf(store, DEFAULT_ENDPOINT)).toEqual([
      expect.objectContaining({ receiverId, endpointId: DEFAULT_ENDPOINT, url, eventId: 'evt_1' }),
    ]);
    expect(await deliveriesOf(store, 'whe_1')).toHaveLength(1);
  });

  test('a URL that cannot be read stops no other event', async () => {
    await dispatched(store, ['evt_1'], { url: 'nowhere' });
    expect(await receivers()).toEqual([]);
  });

  test.each([1, 3, 7, 45, 260])('the deliveries of %i events to three endpoints are all written', async (count) => {
    for (const id of ['whe_1', 'whe_2', 'whe_3']) await added(store, id);
    await dispatched(
      store,
      Array.from({ length: count }, (_, index) => `evt_${index}`),
    );

    expect(await receivers()).toHaveLength(3 * count);
    expect(await store.countPendingDeliveries()).toEqual({ count: 3 * count, oldestDueAt: AT });
  });

  test('more receivers than one statement takes are woken', async () => {
    const ids = Array.from({ length: 301 }, (_, index) => `evt_${index}`);
    for (const id of ids) await store.addEvent(anEvent(id, { url: `https://${id.replace('_', '-')}.example/` }));
    await store.dispatch({ now: AT, limit: 1000 });

    const [row] = await sql.read('SELECT COUNT(*) AS count FROM webhook_receivers WHERE due_at = $1', [AT]);
    expect(Number(row?.['count'])).toBe(301);
  });

  test.each([
    ['nothing is due yet', undefined, AT + 100],
    ['its next delivery is due later', AT + 9000, AT + 100],
    ['its next delivery was due before', AT + 50, AT + 50],
  ])('a receiver is due at the earlier time if %s', async (_what, retryAt, expected) => {
    await added(store, 'whe_1');
    await dispatched(store, ['evt_1']);
    const [receiver] = await leased(store);
    const delivery = receiver!.deliveries[0]!.id;
    const outcome = retryAt === undefined ? attempted(delivery) : attempted(delivery, { status: 500, dueAt: retryAt });
    await store.recordAttempts([aRecord(receiver!, [outcome])]);

    await dispatched(store, ['evt_2'], { createdAt: AT + 100 });

    expect(await dueAt(sql, 'whe_1')).toBe(expected);
  });

  test('an open circuit stays open for a new event', async () => {
    await added(store, 'whe_1');
    await dispatched(store, ['evt_1']);
    const [receiver] = await leased(store);
    await store.recordAttempts([
      aRecord(receiver!, [attempted(receiver!.deliveries[0]!.id, { status: 500, dueAt: AT + 9000 })], {
        health: FAILING,
      }),
    ]);

    await dispatched(store, ['evt_2'], { createdAt: AT + 100 });

    expect(await dueAt(sql, 'whe_1')).toBe(FAILING.openUntil);
  });

  test('two dispatchers give no place twice, leave no gap, and show a reader every place in order', async () => {
    const ids = Array.from({ length: 240 }, (_, index) => `evt_${String(index).padStart(3, '0')}`);
    await added(store, 'whe_1');
    let over = false;
    const writing = (async () => {
      for (const id of ids) await store.addEvent(anEvent(id));
      over = true;
    })();
    const dispatching = [store, other].map(async (by) => {
      for (;;) {
        const last = over;
        await otherWork();
        if ((await by.dispatch({ now: AT, limit: 7 })).events === 0 && last) break;
      }
    });
    const read: { readonly id: string; readonly seq: number }[] = [];
    const reading = (async () => {
      while (read.length < ids.length) {
        await otherWork();
        read.push(...(await other.eventsAfter({ accountId: 'acme' }, read.at(-1)?.seq ?? 0, 5)));
      }
    })();
    await Promise.all([writing, ...dispatching, reading]);

    expect(read.map(({ seq }) => seq)).toEqual(ids.map((_, index) => index + 1));
    expect(read.map(({ id }) => id).toSorted()).toEqual(ids);
    expect(await receivers()).toHaveLength(ids.length);
  });

  test('a dispatch that is not committed leaves its events to the next one', async () => {
    await added(store, 'whe_1');
    await store.addEvent(anEvent('evt_1'));
    const broken = on(beforeCommit(sql, () => Promise.reject(new Error('not committed'))));
    await expect(broken.store.dispatch({ now: AT, limit: 10 })).rejects.toThrow('not committed');
    expect(await receivers()).toEqual([]);

    expect(await store.dispatch({ now: AT, limit: 10 })).toMatchObject({ events: 1 });
    expect(await store.findPlace('acme', 'evt_1')).toBe(1);
    expect(await receivers()).toEqual(['whe_1']);
  });
}
