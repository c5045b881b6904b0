import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { openSqlite } from '@reelgate/platform/sql/sqlite';
import type { Sql, SqlQuery, SqlStatement, SqlValue, SqlWork } from '@reelgate/platform/sql/sql';
import path from 'node:path';
import type { Call, CallEnd } from '../domain/call.ts';
import { decideCall } from '../domain/call.ts';
import { NOTHING_REPORTED } from '../domain/hold.ts';
import { priceFacts } from '../../testing/facts.ts';
import { openBilling, order, temporaryLocation } from '../../testing/open-billing.ts';
import type { Location, TestBilling } from '../../testing/open-billing.ts';
import { NO_ACCOUNTS } from './accounts/account-store.ts';
import { sqlAccountStore } from './accounts/sql-account-store.ts';
import { sqlLowAccounts } from './accounts/sql-low-accounts.ts';
import { sqlActs } from './acts/sql-acts.ts';
import { sqlCallStore } from './calls/sql-call-store.ts';
import { sqlHoldStore } from './holds/sql-hold-store.ts';
import { NEW_ROUND } from './ledger/ledger-audit.ts';
import { sqlLedgerAudit } from './ledger/sql-ledger-audit.ts';
import { sqlLedgerCheck } from './ledger/sql-ledger-checks.ts';
import { sqlMarginStore, sqlMoneyStore } from './money/sql-money-store.ts';
import { sqlTokenStore } from './tokens/sql-token-store.ts';
import { sqlUsageStore } from './usage/sql-usage-store.ts';

const TABLES =
  'calls|holds|usage_hours|label_hours|money_hours|failed_cost_hours|operator_acts|ledger_lines|financial_events|tokens|' +
  'accounts|[auf]';
const CALLS = 300;

let location: Location;
let on: TestBilling;
let asked: Map<string, readonly SqlValue[]>;
let sql: Sql;
beforeEach(async () => {
  location = temporaryLocation();
  on = await openBilling(location);
  asked = new Map();
  const file = openSqlite(path.join(location.dataDir, 'billing.sqlite'));
  const note =
    <T>(run: (text: string, values?: readonly SqlValue[]) => T) =>
    (text: string, values: readonly SqlValue[] = []): T => {
      asked.set(text, values);
      return run(text, values);
    };
  const noted = (query: SqlQuery): SqlQuery => note(query) as SqlQuery;
  const notedWork = (query: SqlWork): SqlWork =>
    Object.assign(noted(query), {
      changes: note(query.changes),
      atEnd: (...statements: readonly SqlStatement[]) => {
        for (const [text, values] of statements) asked.set(text, values);
        query.atEnd(...statements);
      },
    });
  sql = {
    ...file,
    read: noted(file.read),
    write: noted(file.write),
    transaction: (work) => file.transaction((query) => work(notedWork(query))),
    commitAhead: (work) => file.commitAhead((query) => work(notedWork(query))),
  };
});
afterEach(async () => {
  await sql.close();
  await on.stop();
  location.remove();
});

/** The steps of a plan in which SQLite scans a whole table or a whole index. */
async function scans(): Promise<string[]> {
  const found: string[] = [];
  for (const [text, values] of asked) {
    for (const { detail } of await on.sql.read<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, values)) {
      if (new RegExp(`^SCAN (${TABLES})\\b`).test(detail)) found.push(`${detail}: ${text.slice(0, 80)}`);
    }
  }
  return found;
}

const aCall = (id: string): Call => ({
  id,
  accountId: 'demo',
  tokenId: on.tokenId,
  amount: 1n,
  currency: 'USD',
  priceVersion: 1,
  placedAt: 1,
  lapsesAt: 2,
  facts: priceFacts({ priceKey: 'Alpha-H3__regeneration', seconds: 1n }),
});

test('no statement on a batch of any size scans a table', async () => {
  const store = sqlCallStore(sql);
  const calls = Array.from({ length: CALLS }, (_, index) => aCall(`call_${index}`));
  for (const size of [1, 2, 31, CALLS])
    await store.place({ batchId: `batch_${size}`, calls: calls.slice(0, size), ahead: true });
  await store.place({
    batchId: 'batch_refused',
    calls: [{ ...aCall('call_x'), amount: 10n ** 14n }, aCall('call_y')],
    ahead: false,
  });
  expect(await store.lapsed(3, 10)).toHaveLength(10);
  for (const size of [1, 2, 31, CALLS]) {
    const ends = new Map<string, CallEnd>(calls.slice(0, size).map(({ id }) => [id, { basis: 'hold' }]));
    await store.end({
      batchId: `end_${size}`,
      at: 3,
      ends: ends.set(`absent_${size}`, { basis: 'released' }),
      decide: (call, terms, end) => decideCall(call, terms, end, 10),
    });
  }

  expect(asked.size).toBeGreaterThan(20);
  expect(await scans()).toEqual([]);
});

test('a usage statement and an authentication read through an index', async () => {
  await on.billing.placeHold(order(on, 'task_1'));
  for (const groupBy of ['model', 'day', 'token', 'label'] as const)
    await sqlUsageStore(sql).sums({ accountId: 'demo', groupBy }, { from: 1, to: 9_000_000 });
  await sqlTokenStore(sql).findByKeyHashes(['x']);
  await sqlTokenStore(sql).listByHint('a1b2', undefined, 10);

  expect(asked.size).toBe(8);
  expect(await scans()).toEqual([]);
});

test('a page of charged items is read through an index', async () => {
  await sqlUsageStore(sql).items({ accountId: 'demo', after: { at: 1, id: 'task_1' }, to: 9, limit: 10 });

  expect(asked.size).toBe(2);
  expect(await scans()).toEqual([]);
});

test('the reads of the console find their rows through an index', async () => {
  await on.billing.placeHold(order(on, 'task_1'));
  for (const splitBy of ['model', 'token', 'label'] as const)
    await sqlUsageStore(sql).sums({ accountId: 'demo', groupBy: 'day', splitBy }, { from: 1, to: 9_000_000 });
  await sqlUsageStore(sql).lastHours('demo', 0);
  await sqlHoldStore(sql).charges(['task_1', 'task_2'], 'demo');
  await sqlAccountStore(sql).credits('demo', 10);
  for (const subject of ['', 'demo'])
    for (const after of ['', 'act_1']) await sqlActs(sql).list({ limit: 10, after, subject });
  await sqlMoneyStore(sql).settled({ from: 0, to: 1 });
  await sqlMoneyStore(sql).counted({ from: 0, to: 1 });

  expect(asked.size).toBe(15);
  expect(await scans()).toEqual([expect.stringMatching(/^SCAN operator_acts USING INDEX .*: SELECT id, at/)]);
});

test('margins are read through the hours of processes, and the accounts and then their hours', async () => {
  const store = sqlMarginStore(sql);
  for (const bucket of ['hour', 'day'] as const) {
    const query = { from: 0, to: 9_000_000, bucket };
    for (const place of ['channel', 'priceKey'] as const)
      for await (const rows of store.ofPlaces(place, query)) expect(rows).toEqual([]);
    for (const account of [undefined, 'demo'])
      for await (const rows of store.ofAccounts(query, account)) expect(rows).toEqual([]);
  }
  const [text = ''] = [...asked.keys()].filter((one) => one.includes('usage_hours') && one.includes('a.id > $3'));

  const plan = await on.sql.read<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, asked.get(text));

  expect(asked.size).toBe(13);
  expect(await scans()).toEqual([]);
  expect(plan.map(({ detail }) => detail).slice(0, 2)).toEqual([
    expect.stringMatching(/^SEARCH a USING INDEX .*\(id>\? AND id<\?\)$/),
    expect.stringMatching(
      /^SEARCH u USING INDEX sqlite_autoindex_usage_hours_1 \(account_id=\? AND hour>\? AND hour<\?\)$/,
    ),
  ]);
});

test('work without a label writes nothing but its usage', async () => {
  await on.billing.placeHold(order(on, 'task_1'));
  await sqlHoldStore(sql).end(
    'task_1',
    3,
    () => ({ kind: 'charge', amount: 1n, basis: 'hold', usage: NOTHING_REPORTED }),
    false,
  );

  expect([...asked.keys()].filter((text) => text.includes('_hours')).map((text) => text.slice(0, 23))).toEqual([
    'INSERT INTO usage_hours',
  ]);
});

test('the count of accounts with little money left finds the last credit of each by an index', async () => {
  await sqlLowAccounts(sql).countNext(NO_ACCOUNTS, 0);
  const [[text, values] = ['', []]] = asked;

  const plan = await on.sql.read<{ detail: string }>(`EXPLAIN QUERY PLAN ${text}`, values);

  expect(plan.map(({ detail }) => detail)).toEqual([
    'CO-ROUTINE page',
    expect.stringMatching(/^SEARCH a USING INDEX .*\(id>\?\)$/),
    expect.stringMatching(/^CORRELATED SCALAR SUBQUERY/),
    'SEARCH e USING COVERING INDEX financial_events_credits (account_id=?)',
    'SEARCH l USING PRIMARY KEY (event_key=? AND book=?)',
    'SCAN page',
    'SEARCH c USING PRIMARY KEY (event_key=? AND book=?) LEFT-JOIN',
  ]);
});

test('a pass of the rolling check of the ledger reads its events and their lines through indexes', async () => {
  await on.billing.placeHold(order(on, 'task_1'));
  await sqlLedgerCheck(sql)(NEW_ROUND);

  expect(asked.size).toBe(3);
  expect(await scans()).toEqual([expect.stringMatching(/^SCAN holds USING COVERING INDEX .*: SELECT page.event_key/)]);
});

test('the check of the ledger finds the calls of an event by its key, however many events there are', async () => {
  await sqlCallStore(sql).place({ batchId: 'batch_1', calls: [aCall('call_1')], ahead: false });
  await sqlLedgerAudit(sql).audit(3, { signal: new AbortController().signal, isDiagnosis: false });
  const [text] = [...asked.keys()].filter((one) => one.includes('hold_calls'));

  const plan = await on.sql.read<{ detail: string }>(`EXPLAIN QUERY PLAN ${text!}`, asked.get(text!));

  expect(plan.map(({ detail }) => detail)).toContainEqual(expect.stringMatching(/^SEARCH c USING .*event_key=/));
});
