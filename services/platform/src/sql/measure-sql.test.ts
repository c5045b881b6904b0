import { expect, test } from '@jest/globals';
import { describeOnEngines } from '../../testing/describe-on-engines.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { newMetrics } from '../metrics/metrics.ts';
import { measureSql } from './await-sql.ts';

describeOnEngines('a measured database', (open) => {
  test('counts each call with the time to its result, failed ones too', async () => {
    const clock = fakeClock();
    const metrics = newMetrics(false, clock);
    const sql = measureSql(open(), metrics, { service: 's', clock });
    await sql.write('CREATE TABLE one (id TEXT PRIMARY KEY)');
    await sql.read('SELECT 1 AS one');
    await expect(sql.read('SELECT nothing FROM nowhere')).rejects.toThrow();
    await sql.transaction(async (query) => {
      await query("INSERT INTO one (id) VALUES ('a')");
      await clock.advance(30);
    });

    expect((await metrics.text()).split('\n')).toEqual(
      expect.arrayContaining([
        'reelgate_sql_seconds_count{service="s",what="read"} 2',
        'reelgate_sql_seconds_count{service="s",what="write"} 1',
        'reelgate_sql_seconds_bucket{le="0.025",service="s",what="transaction"} 0',
        'reelgate_sql_seconds_bucket{le="0.05",service="s",what="transaction"} 1',
      ]),
    );
  });

  test('keeps the trace of a recorded transaction as the exemplar of its range', async () => {
    const clock = fakeClock(1_800_000_000_000);
    const metrics = newMetrics(false, clock);
    const sql = measureSql(open(), metrics, { service: 's', clock });
    const slow = async (): Promise<void> => clock.advance(30);
    await sql.transaction(slow, '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01');
    await sql.transaction(slow, '00-aaaa2f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00');
    await sql.transaction(slow);

    expect((await metrics.text('openmetrics')).split('\n')).toContain(
      'reelgate_sql_seconds_bucket{le="0.05",service="s",what="transaction"} 3 ' +
        '# {trace_id="4bf92f3577b34da6a3ce929d0e0e4736"} 0.03 1800000000.03',
    );
  });

  test('shows its connections while one is in use, and after it', async () => {
    const metrics = newMetrics(false);
    const sql = measureSql(open(), metrics, { service: 's', clock: fakeClock() });
    const pool = async (): Promise<string[]> =>
      [...(await metrics.text()).matchAll(/^reelgate_sql_pool{service="s",state="(\w+)"} (\d+)$/gm)].map(
        ([, state, count]) => `${state} ${count}`,
      );
    await sql.transaction(async (query) => {
      await query('SELECT 1 AS one');
      expect(await pool()).toEqual(['in_use 1', 'idle 0', 'waiting 0']);
    });

    expect(await pool()).toEqual(['in_use 0', 'idle 1', 'waiting 0']);
  });
});
