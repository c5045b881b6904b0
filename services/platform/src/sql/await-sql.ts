import type { Clock } from '../clock.ts';
import { nameOfUrl, whenReachable } from '../lifecycle/when-reachable.ts';
import type { Log } from '../log.ts';
import { openSql } from './open-sql.ts';
import type { SqlOptions } from './open-sql.ts';
import type { Sql } from './sql.ts';
import { StoreUnavailable } from './store-unavailable.ts';

/** Opens the database of a service as soon as it can be used. */
export function awaitSql(
  options: SqlOptions,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<Sql> {
  const { url, name } = options;
  return whenReachable(() => openSql(options), {
    clock,
    log,
    dependency: url === undefined ? `the embedded store of ${name}` : nameOfUrl('PostgreSQL', url.reveal()),
    isAway: (error) => error instanceof StoreUnavailable,
  });
}
