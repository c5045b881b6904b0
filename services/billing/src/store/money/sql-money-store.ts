import { byRows, inExactChunks, rowValues, valueRows } from '@reelgate/platform/sql/multi-row';
import { listValues } from '@reelgate/platform/sql/named-values';
import type { NamedValues } from '@reelgate/platform/sql/named-values';
import type { Sql, SqlRow } from '@reelgate/platform/sql/sql';
import { HOUR_MS } from '../../domain/usage.ts';
import { ACCOUNTS_OF_PART, accountParts } from '../accounts/account-rows.ts';
import type { AccountsMoney, HeldMoney, MoneyHour, MoneyStore, SettledMoney } from './money-store.ts';

/** The part of the hours of usage that one statement reads: a month is a few hundred short statements. */
const PART_MS = 3 * HOUR_MS;
const NANOS_PER_UNIT = 1_000_000_000n;
// Whole units and the rest are summed separately, so that no sum leaves 64 bits.
const sumMoneyColumn = (
  column: string,
): string => `CAST(SUM(${column} / ${NANOS_PER_UNIT}) AS BIGINT) AS ${column}_units,
    CAST(SUM(${column} % ${NANOS_PER_UNIT}) AS BIGINT) AS ${column}_rest`;
const sumCountColumn = (column: string): string => `CAST(SUM(${column}) AS BIGINT) AS ${column}`;

const selectHeld = (open: string): string => `SELECT price_key, currency, ${sumMoneyColumn('amount_nanos')}
  FROM ${open} GROUP BY price_key, currency`;
const HELD = [selectHeld("holds WHERE state = 'open'"), selectHeld('calls WHERE ended_at IS NULL')];
const ACCOUNTS = `SELECT currency, COUNT(*) AS accounts, ${sumMoneyColumn('balance_nanos')}, ${sumMoneyColumn('held_nanos')}
  FROM accounts WHERE id > $1 AND id <= $2 GROUP BY currency`;
const SETTLED = `SELECT u.price_key, a.currency, ${sumCountColumn('requests')}, ${sumMoneyColumn('charged_nanos')}
  FROM usage_hours u JOIN accounts a ON a.id = u.account_id
  WHERE u.hour >= $1 AND u.hour < $2 GROUP BY u.price_key, a.currency`;
const COUNTED = `SELECT channel, price_key, currency, ${sumCountColumn('requests')}, ${sumCountColumn('overruns')}, ${sumCountColumn('lapses')},
    ${sumCountColumn('reported_requests')}, ${sumMoneyColumn('reported_cost_nanos')},
    ${sumMoneyColumn('charged_nanos')}, ${sumMoneyColumn('cost_nanos')}, ${sumMoneyColumn('overrun_nanos')}
  FROM money_hours WHERE hour >= $1 AND hour < $2 GROUP BY channel, price_key, currency
  ORDER BY channel, price_key, currency`;
const KEYS = ['hour', 'process', 'channel', 'price_key', 'currency'] as const;
const COUNTS = [
  'requests',
  'charged_nanos',
  'cost_nanos',
  'reported_requests',
  'reported_cost_nanos',
  'overruns',
  'overrun_nanos',
  'lapses',
] as const;
const COLUMNS = [...KEYS, ...COUNTS];
const WRITE = byRows(
  (rows) => `INSERT INTO money_hours (${COLUMNS.join(', ')})
  VALUES ${valueRows(rows, COLUMNS.length)} ON CONFLICT (${KEYS.join(', ')})
  DO UPDATE SET ${COUNTS.map((column) => `${column} = excluded.${column}`).join(', ')}`,
);
const REMOVE = 'DELETE FROM money_hours WHERE hour < $1';

export function sqlMoneyStore(sql: Sql, size = ACCOUNTS_OF_PART): MoneyStore {
  return {
    held: async () => (await Promise.all(HELD.map((text) => sql.read(text)))).flat().map(toHeldMoney),
    accounts: async () => {
      const sums = new Map<string, AccountsMoney>();
      for await (const { after, last } of accountParts(sql.read, '', size))
        for (const row of await sql.read(ACCOUNTS, [after, last])) addAccounts(sums, row);
      return sortByKey(sums);
    },
    settled: async ({ from, to }) => {
      const sums = new Map<string, SettledMoney>();
      for (let part = from; part < to; part += PART_MS)
        for (const row of await sql.read(SETTLED, [part, Math.min(part + PART_MS, to)])) addSettled(sums, row);
      return sortByKey(sums);
    },
    counted: async ({ from, to }) =>
      (await sql.read(COUNTED, [from, to])).map((row) => ({
        channel: String(row['channel']),
        priceKey: String(row['price_key']),
        currency: String(row['currency']),
        requests: whole(row['requests']),
        charged: readNanos(row, 'charged_nanos'),
        cost: readNanos(row, 'cost_nanos'),
        reportedRequests: whole(row['reported_requests']),
        reportedCost: readNanos(row, 'reported_cost_nanos'),
        overruns: whole(row['overruns']),
        overrun: readNanos(row, 'overrun_nanos'),
        lapses: whole(row['lapses']),
      })),
    write: async (hours) => {
      await sql.transaction(async (query) => {
        for (const chunk of inExactChunks(hours))
          await query(
            WRITE(chunk.length),
            rowValues([], chunk, (counted) => listValues(COLUMNS, toHourRow(counted))),
          );
      });
    },
    removeBefore: async (hour) => {
      await sql.write(REMOVE, [hour]);
    },
  };
}

function toHourRow(hour: MoneyHour): NamedValues<(typeof COLUMNS)[number]> {
  return {
    hour: hour.hour,
    process: hour.process,
    channel: hour.channel,
    price_key: hour.priceKey,
    currency: hour.currency,
    requests: hour.requests,
    charged_nanos: hour.charged,
    cost_nanos: hour.cost,
    reported_requests: hour.reportedRequests,
    reported_cost_nanos: hour.reportedCost,
    overruns: hour.overruns,
    overrun_nanos: hour.overrun,
    lapses: hour.lapses,
  };
}

function toHeldMoney(row: SqlRow): HeldMoney {
  return {
    priceKey: String(row['price_key']),
    currency: String(row['currency']),
    units: Number(row['amount_nanos_units']) + Number(row['amount_nanos_rest']) / Number(NANOS_PER_UNIT),
  };
}

function addAccounts(sums: Map<string, AccountsMoney>, row: SqlRow): void {
  const currency = String(row['currency']);
  const { balance = 0n, held = 0n, accounts = 0n } = sums.get(currency) ?? {};
  sums.set(currency, {
    currency,
    balance: balance + readNanos(row, 'balance_nanos'),
    held: held + readNanos(row, 'held_nanos'),
    accounts: accounts + whole(row['accounts']),
  });
}

function addSettled(sums: Map<string, SettledMoney>, row: SqlRow): void {
  const [priceKey, currency] = [String(row['price_key']), String(row['currency'])];
  const { requests = 0n, charged = 0n } = sums.get(`${priceKey} ${currency}`) ?? {};
  sums.set(`${priceKey} ${currency}`, {
    priceKey,
    currency,
    requests: requests + whole(row['requests']),
    charged: charged + readNanos(row, 'charged_nanos'),
  });
}

function sortByKey<T>(sums: ReadonlyMap<string, T>): T[] {
  return [...sums].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, sum]) => sum);
}

function readNanos(row: SqlRow, column: string): bigint {
  return whole(row[`${column}_units`]) * NANOS_PER_UNIT + whole(row[`${column}_rest`]);
}

function whole(value: SqlRow[string] | undefined): bigint {
  return BigInt(value ?? 0);
}
