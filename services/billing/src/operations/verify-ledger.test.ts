import { expect, test } from '@jest/globals';
import { newIds } from '@reelgate/platform/ids';
import { silentLog } from '@reelgate/platform/log';
import { StoreUnavailable } from '@reelgate/platform/sql/sql';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { describeOnEngines } from '../../testing/describe-on-engines.ts';
import { aConfig, order } from '../../testing/open-billing.ts';
import { sqlLedgerAudit } from '../store/ledger/sql-ledger-audit.ts';
import { verifyLedger } from './check-ledger.ts';

const clock = fakeClock();

describeOnEngines('a check of the whole ledger', (open) => {
  test('has its outcome although a full database cannot keep it', async () => {
    const { sql } = await open(aConfig());
    const record = async () => {
      throw new StoreUnavailable('database or disk is full');
    };
    const deps = { audit: sqlLedgerAudit(sql), ledgerChecks: { record, last: async () => undefined } };
    const log = silentLog;
    const found = await verifyLedger(
      { ...deps, clock, newId: newIds(clock), log },
      'ann',
      new AbortController().signal,
    );

    expect(found.faults).toEqual([]);
    expect(found.entries).toBeGreaterThan(0n);
  });

  test('that is a part of a diagnosis leaves no record', async () => {
    const on = await open(aConfig());
    await on.accounts.verifyLedger({ diagnosis: true });
    expect(await on.sql.read('SELECT * FROM ledger_checks')).toEqual([]);

    await on.accounts.verifyLedger({ actor: 'ann' });
    expect(await on.sql.read('SELECT actor FROM ledger_checks')).toEqual([{ actor: 'ann' }]);
  });

  test('that is a part of a diagnosis reads what is open of a large ledger, and not the rest', async () => {
    const on = await open(aConfig());
    await on.billing.placeHold(order(on, 'task_1'));
    const lines = on.sql.engine === 'sqlite' ? 100_001 : 1_000_001;
    const large = {
      ...on.sql,
      read: (text: string, values: readonly number[] = []) =>
        /^SELECT COUNT\(\*\) AS count FROM \(SELECT 1 FROM ledger_lines/.test(text)
          ? Promise.resolve([{ count: Math.min(lines, values[0] ?? 0) }])
          : on.sql.read(text, values),
    };
    const { signal } = new AbortController();
    const audit = (isDiagnosis: boolean) => sqlLedgerAudit(large as never).audit(1, { signal, isDiagnosis });

    expect(await audit(true)).toMatchObject({
      isTooLarge: true,
      entries: BigInt(lines - 1),
      openHoldTaskIds: ['task_1'],
      faults: [],
    });
    expect(await audit(false)).toMatchObject({ isTooLarge: false });
  });

  test('ends between two statements as soon as its caller leaves, and lets other work go on', async () => {
    const { sql } = await open(aConfig());
    const caller = new AbortController();
    let statements = 0;
    const counted = {
      ...sql,
      read: (text: string, values?: readonly never[]) => {
        statements += 1;
        // The caller leaves in a turn of the event loop of its own, as a message of the network does.
        setImmediate(() => {
          caller.abort(new Error('the caller has left'));
        });
        return sql.read(text, values);
      },
    };

    await expect(
      sqlLedgerAudit(counted as never).audit(1, { signal: caller.signal, isDiagnosis: false }),
    ).rejects.toThrow('the caller has left');
    expect(statements).toBe(1);
  });
});
