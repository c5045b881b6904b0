import type { Clock } from '../clock.ts';
import type { CheckRegistry } from '../diagnosis/self-checks.ts';
import { storeChecks } from './store-checks.ts';
import { describeServer, whenReachable } from '../lifecycle/when-reachable.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { measureSql } from './measure-sql.ts';
import { openSql } from './open-sql.ts';
import type { SqlOptions } from './open-sql.ts';
import type { Sql } from './sql.ts';
import { StoreRefused, StoreUnavailable } from './sql.ts';
import { watchWrites } from './watch-writes.ts';

export interface SqlDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly checks?: CheckRegistry | undefined;
}

/** Opens the database of a service as soon as it can be used, and measures its statements. */
export async function awaitSql(options: SqlOptions, { clock, log, metrics, checks }: SqlDeps): Promise<Sql> {
  const { url, name } = options;
  const sql = await whenReachable(() => openNamed(options), {
    clock,
    log,
    dependency: url === undefined ? `the embedded store of ${name}` : describeServer('PostgreSQL', url.reveal()),
    isAway: (error) => error instanceof StoreUnavailable,
  });
  const watched = watchWrites(sql, clock);
  checks?.add(...storeChecks(watched, options, clock));
  return measureSql(watched.sql, metrics, { service: name, clock });
}

/** A refusal names the service, because a program has several stores. */
async function openNamed(options: SqlOptions): Promise<Sql> {
  try {
    return await openSql(options);
  } catch (error) {
    throw error instanceof StoreRefused ? new StoreRefused(`${options.name}: ${error.message}`) : error;
  }
}
