import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Random } from '@reelgate/platform/ids';
import { createDatabase } from '@reelgate/platform/testing/create-database';
import { dumpTables } from '@reelgate/platform/testing/dump-tables';
import type { TableDump } from '@reelgate/platform/testing/dump-tables';
import { SEQUENCES } from '@reelgate/platform/testing/sequences';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import { postgresServer } from '../../../../test/servers/postgres-server.ts';
import { NO_ACCOUNTS, drawLedgerSteps, startSequence } from '../../testing/ledger-steps.ts';
import { openBilling, temporaryLocation } from '../../testing/open-billing.ts';
import type { Location, TestBilling } from '../../testing/open-billing.ts';

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

function modelSuite(numRuns: number, openLocations: () => Promise<readonly Location[]>): void {
  const services = useServices(openLocations);
  let runs = 0;

  test('the books equal those of the reference for any calls in any order, and their rows are the same', async () => {
    const watches = services().map(watchRows);
    await fc.assert(
      fc.asyncProperty(drawLedgerSteps, async (commands) => {
        runs += 1;
        const written: TableDump[] = [];
        for (const [at, on] of services().entries()) {
          const sequence = await startSequence(on, `run-${runs}`);
          await fc.asyncModelRun(() => sequence, commands);
          expect(await on.accounts.verifyLedger({})).toMatchObject({ ok: true, faults: [] });
          written.push(await watches[at]!());
        }

        for (const rows of written) expect(rows).toEqual(written[0]);
      }),
      { numRuns },
    );
  }, 120_000);
}

describe('with SQLite', () => {
  modelSuite(Math.max(100, SEQUENCES), async () => [temporaryLocation()]);
});

describeWith(postgresServer, 'the ledger', (url) => {
  modelSuite(Math.max(40, SEQUENCES), async () => [
    temporaryLocation(),
    temporaryLocation(await createDatabase(url(), 'ledger_model')),
  ]);
});
