import { statfs } from 'node:fs/promises';
import type { TimeSource } from '../clock.ts';
import { describeServer, describeError } from '../lifecycle/when-reachable.ts';
import { readSchema } from './migrate.ts';
import type { SqlOptions } from './open-sql.ts';
import { StoreUnavailable } from './sql.ts';
import type { Sql } from './sql.ts';
import type { WatchedSql } from './watch-writes.ts';
import { ok } from '../diagnosis/self-checks.ts';
import type { SelfCheck, Verdict } from '../diagnosis/self-checks.ts';

/** A healthy database answers an empty read in a few milliseconds. */
const SLOW_MS = 500;
const MIB = 1024 * 1024;
const DISK_WARN_BYTES = 2048 * MIB;
const DISK_FAIL_BYTES = 256 * MIB;

/** The checks of the store of a service: whether it answers, its schema, and the disk of an embedded one. */
export function storeChecks(watched: WatchedSql, store: SqlOptions, clock: TimeSource): readonly SelfCheck[] {
  const { sql } = watched;
  return [
    {
      part: 'database',
      check: () => checkAnswer(watched, store, clock),
      advice: `it takes connections and hangs: look at its load, its locks and its disk; the setting is ${store.name}.database`,
    },
    { part: 'schema', check: () => checkSchema(sql, store) },
    ...(store.url === undefined ? [diskCheck('disk', store.dataDir)] : []),
  ];
}

/** Returns the verdict on a fault that an operator can repair, or undefined for any other error. */
export function describeStoreFault(error: unknown): Verdict | undefined {
  if (!(error instanceof StoreUnavailable) || error.fault === undefined) return undefined;
  return { grade: 'fail', detail: error.fault.detail, advice: error.fault.remedy };
}

/** The free space of the disk of a folder. */
export function diskCheck(part: string, folder: string): SelfCheck {
  return {
    part,
    check: async () => {
      const { bavail, bsize } = await statfs(folder);
      const free = bavail * bsize;
      const detail = `${Math.round(free / MIB)} MiB are free at ${folder}`;
      if (free >= DISK_WARN_BYTES) return ok(detail);
      return { grade: free < DISK_FAIL_BYTES ? 'fail' : 'warn', detail, advice: 'free or add space on this disk' };
    },
  };
}

async function checkAnswer(
  { sql, writeFault }: WatchedSql,
  { url, name }: SqlOptions,
  clock: TimeSource,
): Promise<Verdict> {
  const where = url === undefined ? 'the embedded store' : describeServer('PostgreSQL', url.reveal());
  const begun = clock.now();
  try {
    await sql.read('SELECT 1 AS one');
  } catch (error) {
    const known = describeStoreFault(error);
    if (known !== undefined) return known;
    return {
      grade: 'fail',
      detail: `${where} does not answer: ${describeError(error)}`,
      advice:
        url === undefined
          ? 'read the log of the service; a full or failing disk needs a restart after it is mended'
          : `start the server or repair the network; no other step is needed; the setting is ${name}.database`,
    };
  }
  const fault = writeFault();
  if (fault !== undefined) {
    const known = describeStoreFault(fault.error);
    return {
      grade: 'fail',
      detail:
        `${where} answers reads, and refused the last write, ${Math.round((clock.now() - fault.at) / 1000)} s ago: ` +
        (known?.detail ?? describeError(fault.error.cause)),
      advice: known?.advice ?? 'free space on its disk, or repair the named fault; the next successful write ends this',
    };
  }
  const ms = clock.now() - begun;
  const { inUse, idle, waiting, waitedMs } = sql.pool();
  const detail =
    `${where} answers in ${ms} ms; connections: ${inUse} in use, ${idle} idle, ` + `${waiting} calls wait for one`;
  // a call that waits for a moment does not prove that the pool is too small
  return ms < SLOW_MS && waitedMs < SLOW_MS
    ? ok(detail)
    : {
        grade: 'warn',
        detail,
        advice: `look at the load of the server; ${name}.postgres.connections bounds the connections`,
      };
}

async function checkSchema(sql: Sql, { name, migrations }: SqlOptions): Promise<Verdict> {
  const { pending, unknown } = await readSchema(sql, migrations);
  if (pending.length > 0)
    return {
      grade: 'fail',
      detail: `lacks ${pending.map((one) => one.name).join(', ')}`,
      advice: `reelgate migrate ${name}`,
    };
  if (unknown.length > 0)
    return {
      grade: 'warn',
      detail: `a newer release has added ${unknown.join(', ')}`,
      advice: 'finish the upgrade of the programs',
    };
  return ok('no migration is pending');
}
