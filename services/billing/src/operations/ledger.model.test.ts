import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Random } from '@reelgate/platform/ids';
import { createDatabase } from '@reelgate/platform/testing/create-database';
import { dumpTables } from '@reelgate/platform/testing/dump-tables';
import type { TableDump } from '@reelgate/platform/testing/dump-tables';
import { SEQUENCES, SEQUENCES_TIMEOUT_MS } from '@reelgate/platform/testing/sequences';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import { postgresServer } from '../../../../test/servers/postgres-server.ts';
import { NO_ACCOUNTS, drawLedgerSteps, startSequence } from '../../testing/ledger-steps.ts';
import { openBilling, temporaryLocation } from '../../testing/open-billing.ts';
import type { Location, TestBilling } from '../../testing/open-billing.ts';

const TIMEOUT_MS = Math.max(120_000, SEQUENCES_TIMEOUT_MS);
/** The time that a check of the ledger took is that of the machine. */
const WITHOUT_TIMES = { without: { ledger_checks: ['took_ms'] } };

/** Services that all sequences share. Each of them gets the same calls. */
function useServices(openLocations: () => Promise<readonly Location[]>): () => readonly TestBilling[] {
  let locations: readonly Location[] = [];
  const services: TestBilling[] = [];
  beforeAll(async () => {
    locations = await openLocations();
    for (const location of locations)
      services.push(await openBilling(location, NO_ACCOUNTS, undefined, undefined, countUp()));
  });
  afterAll(async () => {
    for (const service of services) await service.stop();
    for (const location of locations) location.remove();
  });
  return () => services;
}

/** Bytes that are the same for each service, so that their ids are. */
function countUp(): Random {
  let count = 0;
  return (bytes) => {
    count += 1;
    new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, count);
    new DataView(bytes.buffer, bytes.byteOffset).setUint32(bytes.length - 4, count);
  };
}

/** The rows that were written since the last look. */
function watchRows({ sql }: TestBilling): () => Promise<TableDump> {
  const seen = new Set<string>();
  return async () => {
    const written: Record<string, TableDump[string]> = {};
    for (const [table, rows] of Object.entries(await dumpTables(sql, WITHOUT_TIMES))) {
      const fresh = rows.filter((row) => !seen.has(toText(table, row)));
      for (const row of fresh) seen.add(toText(table, row));
      if (fresh.length > 0) written[table] = fresh;
    }
    return written;
  };
}

function toText(table: string, row: TableDump[string][number]): string {
  return `${table} ${Object.values(row).map(String).join(' ')}`;
}

function modelSuite(title: string, numRuns: number, openLocations: () => Promise<readonly Location[]>): void {
  describe(title, () => {
    const services = useServices(openLocations);
    let runs = 0;

    test(
      'the books equal those of the reference for any calls in any order, and each engine has the same rows',
      async () => {
        const watches = services().length > 1 ? services().map(watchRows) : [];
        await fc.assert(
          fc.asyncProperty(drawLedgerSteps, async (commands) => {
            runs += 1;
            for (const on of services()) {
              const sequence = await startSequence(on, `run-${runs}`);
              await fc.asyncModelRun(() => sequence, commands);
              expect(await on.accounts.verifyLedger({})).toMatchObject({ ok: true, faults: [] });
            }

            const written: TableDump[] = [];
            for (const readNew of watches) written.push(await readNew());
            for (const rows of written) expect(rows).toEqual(written[0]);
          }),
          { numRuns },
        );
      },
      TIMEOUT_MS,
    );
  });
}

modelSuite('with SQLite', 100, async () => [temporaryLocation()]);

describeWith(postgresServer, 'the ledger', (url) => {
  const inPostgres = async (name: string): Promise<Location> => temporaryLocation(await createDatabase(url(), name));

  modelSuite('alone', 40, async () => [await inPostgres('ledger_model')]);
  modelSuite('beside SQLite', SEQUENCES, async () => [temporaryLocation(), await inPostgres('ledger_both')]);
});
