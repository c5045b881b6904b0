import { expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { gaugeSampler } from '@reelgate/platform/metrics/sampled-gauges';
import { useWorlds } from '../../testing/open-world.ts';
import type { World } from '../../testing/open-world.ts';
import { sqlBatches } from '../store/batches/sql-batches.ts';
import { sqlJobs } from '../store/jobs/sql-jobs.ts';
import { sqlBacklog } from '../store/tasks/sql-backlog.ts';
import { watchBacklogs } from './tasks-gauges.ts';

/** A measurement of a few milliseconds varies by this much. */
const SPREAD_MS = 5;
const SCRAPES = 15;
/** An old value is read again after this time. */
const STALE_MS = 60_000;

const open = useWorlds();

/** The shortest of some scrapes, each of which reads the database. */
async function scrapeMs({ deps, sql, clock }: World): Promise<number> {
  const metrics = newMetrics(true, clock);
  watchBacklogs(gaugeSampler(metrics, { service: 'tasks', clock, log: silentLog }), {
    tasks: sqlBacklog(sql),
    jobs: sqlJobs(sql, deps.newId),
    batches: sqlBatches(sql, deps.newId),
    models: deps.models,
    channels: deps.channels,
    clock,
  });
  const times: number[] = [];
  for (let each = 0; each < SCRAPES; each += 1) {
    await clock.advance(STALE_MS);
    const startedAt = performance.now();
    expect(await metrics.text()).toContain('reelgate_tasks_open{state="queued",channel="main"} 10');
    times.push(performance.now() - startedAt);
  }
  return Math.min(...times);
}

test('a scrape that reads the database takes as long with a hundred thousand tasks as with ten', async () => {
  const world = await open();
  for (let each = 0; each < 10; each += 1) await world.create();
  const small = await scrapeMs(world);
  const columns = (await world.sql.read('SELECT name FROM pragma_table_info($1)', ['tasks']))
    .map(({ name }) => String(name))
    .filter((name) => !['id', 'state', 'finished_at', 'settled_at', 'next_poll_at', 'upstream_id'].includes(name));
  await world.sql.write(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 100000),
       one AS (SELECT * FROM tasks LIMIT 1)
     INSERT INTO tasks (id, state, finished_at, settled_at, ${columns.join(', ')})
     SELECT 'old_' || n, 'completed', created_at, created_at, ${columns.join(', ')} FROM numbers, one`,
  );

  const large = await scrapeMs(world);

  process.stdout.write(`a scrape: ${small.toFixed(1)} ms with 10 tasks, ${large.toFixed(1)} ms with 100,010\n`);
  expect(large).toBeLessThan(2 * small + SPREAD_MS);
});
