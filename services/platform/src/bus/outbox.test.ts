import { beforeEach, expect, test } from '@jest/globals';
import { fakeClock } from '../../testing/fake-clock.ts';
import { silentLog } from '../log.ts';
import { newMetrics } from '../metrics/metrics.ts';
import { gaugeSampler } from '../metrics/sampled-gauges.ts';
import { describeOnEngines } from '../../testing/describe-on-engines.ts';
import { relayOutbox, buildStagedEvent, watchOutbox } from './outbox.ts';
import type { OutboxEvent } from './outbox.ts';
import type { Sql } from '../sql/sql.ts';

const anEvent = (number: number): OutboxEvent => ({
  id: `event_${String(number).padStart(3, '0')}`,
  type: 'happened',
  payload: JSON.stringify({ number }),
});

describeOnEngines('the outbox', (open) => {
  let sql: Sql;
  let published: string[];
  beforeEach(async () => {
    sql = open();
    published = [];
    await sql.write(
      `CREATE TABLE outbox
         (id TEXT PRIMARY KEY, type TEXT NOT NULL, payload TEXT NOT NULL, created_at BIGINT NOT NULL,
          trace TEXT)`,
    );
  });
  const stage = (...events: readonly OutboxEvent[]): Promise<void> =>
    sql.transaction(async (query) => {
      for (const event of events) query.atEnd(buildStagedEvent(event, 1000));
    });
  const publish = async ({ id }: OutboxEvent): Promise<void> => {
    published.push(id);
  };
  const kept = async (): Promise<unknown[]> =>
    (await sql.read('SELECT id FROM outbox ORDER BY id')).map(({ id }) => id);

  test('publishes each staged event once, and is then empty', async () => {
    await stage(anEvent(1), anEvent(2));

    expect(await relayOutbox(sql, publish)).toBe(2);
    expect(await relayOutbox(sql, publish)).toBe(0);

    expect(published).toEqual(['event_001', 'event_002']);
    expect(await kept()).toEqual([]);
  });

  test.each([1, 2, 16, 17, 200])('removes %d published events and no other', async (count) => {
    await stage(...Array.from({ length: count }, (_, number) => anEvent(number)), anEvent(999));

    await relayOutbox(sql, async (event) => {
      if (event.id === 'event_999') throw new Error('the bus is away');
    }).catch(() => undefined);

    expect(await kept()).toEqual(['event_999']);
  });

  test('an event keeps the carrier of what it reports', async () => {
    const taken: OutboxEvent[] = [];
    const carrier = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await stage({ ...anEvent(1), carrier });

    await relayOutbox(sql, async (event) => void taken.push(event));

    expect(taken).toEqual([{ ...anEvent(1), carrier }]);
  });

  test('publishes events exactly as they were staged', async () => {
    const taken: OutboxEvent[] = [];
    await stage(anEvent(1));

    await relayOutbox(sql, async (event) => void taken.push(event));

    expect(taken).toEqual([anEvent(1)]);
  });

  test('contains no event of a transaction that was rolled back', async () => {
    const undone = sql.transaction(async (query) => {
      query.atEnd(buildStagedEvent(anEvent(1), 1000));
      throw new Error('changed my mind');
    });
    await expect(undone).rejects.toThrow('changed my mind');

    expect(await relayOutbox(sql, publish)).toBe(0);
    expect(published).toEqual([]);
  });

  test('an event that cannot be read holds no other up', async () => {
    await stage(anEvent(1), anEvent(2), anEvent(3));
    const broken = (event: OutboxEvent): Promise<void> => {
      if (event.id === 'event_001') throw new Error('no message');
      return publish(event);
    };

    await expect(relayOutbox(sql, broken)).rejects.toThrow('no message');

    expect(published).toEqual(['event_002', 'event_003']);
    expect(await kept()).toEqual(['event_001']);
  });

  test('keeps an event that could not be published, logs it, and loses no other', async () => {
    await stage(anEvent(1), anEvent(2), anEvent(3));
    const broken = async (event: OutboxEvent): Promise<void> => {
      if (event.id === 'event_002') throw new Error('the bus is away');
      await publish(event);
    };

    await expect(relayOutbox(sql, broken)).rejects.toThrow('the bus is away');

    expect(published).toEqual(['event_001', 'event_003']);
    expect(await kept()).toEqual(['event_002']);
    expect(await relayOutbox(sql, publish)).toBe(1);
    expect(published).toEqual(['event_001', 'event_003', 'event_002']);
  });

  test('publishes again under the same id after a crash between publishing and removal', async () => {
    await stage(anEvent(1));
    const dying: Sql = {
      ...sql,
      write: async () => {
        throw new Error('the process is gone');
      },
    };
    await expect(relayOutbox(dying, publish)).rejects.toThrow('the process is gone');

    await relayOutbox(sql, publish);

    expect(published).toEqual(['event_001', 'event_001']);
    expect(await kept()).toEqual([]);
  });

  test('may publish twice in two concurrent processes, and loses nothing', async () => {
    await stage(...Array.from({ length: 10 }, (_, number) => anEvent(number)));

    await Promise.all([relayOutbox(sql, publish), relayOutbox(open(), publish)]);

    expect(new Set(published).size).toBe(10);
    expect(await kept()).toEqual([]);
  });

  test('publishes a bounded number of events in one pass, the oldest first', async () => {
    await stage(...Array.from({ length: 250 }, (_, number) => anEvent(249 - number)));

    const first = await relayOutbox(sql, publish);

    expect(first).toBe(200);
    expect(published.at(0)).toBe('event_000');
    expect(await relayOutbox(sql, publish)).toBe(50);
    expect(published).toEqual(published.toSorted());
  });

  test('shows how many events wait and since when, whether or not there is one', async () => {
    const clock = fakeClock(9000);
    const metrics = newMetrics(false, clock);
    watchOutbox(gaugeSampler(metrics, { service: 's', clock, log: silentLog }), { sql, service: 's', clock });
    const shown = async (): Promise<string[]> =>
      (await metrics.text()).split('\n').filter((line) => line.startsWith('reelgate_outbox'));
    expect(await shown()).toEqual([
      'reelgate_outbox_rows{service="s"} 0',
      'reelgate_outbox_oldest_seconds{service="s"} 0',
    ]);

    await stage(anEvent(1), anEvent(2));
    await clock.advance(10_000);

    expect(await shown()).toEqual([
      'reelgate_outbox_rows{service="s"} 2',
      'reelgate_outbox_oldest_seconds{service="s"} 18',
    ]);
  });
});
