import { byRows, inExactChunks, rowValues, valueRows } from '@reelgate/platform/sql/multi-row';
import { listValues } from '@reelgate/platform/sql/named-values';
import type { Sql, SqlRow } from '@reelgate/platform/sql/sql';
import { HOUR_MS, DAY_MS } from '../../domain/usage.ts';
import { ACCOUNTS_OF_PART, accountParts } from '../accounts/account-rows.ts';
import {
  MARGIN_COLUMNS,
  PLACE_MARGINS,
  readMargin,
  readCount,
  readMoney,
  sumCount,
  sumMoney,
  ACCOUNT_MARGINS,
} from './money-rows.ts';
import type {
  AccountsMoney,
  HeldMoney,
  MoneyHour,
  MoneyStore,
  SettledMoney,
  MarginBucket,
  MarginQuery,
  MarginRow,
  MarginStore,
} from './money-store.ts';
import { NO_MARGIN } from '../../domain/margin.ts';

/** The part of the hours of usage that one statement reads: a month is a few hundred short statements. */
const PART_MS = 3 * HOUR_MS;
const NANOS_PER_UNIT = 1_000_000_000;

const selectHeld = (open: string): string => `SELECT price_key, currency, ${sumMoney('amount_nanos')}
  FROM ${open} GROUP BY price_key, currency`;
const HELD = [selectHeld("holds WHERE state = 'open'"), selectHeld('calls WHERE ended_at IS NULL')];
const ACCOUNTS = `SELECT currency, COUNT(*) AS accounts, ${sumMoney('balance_nanos')}, ${sumMoney('held_nanos')}
  FROM accounts WHERE id > $1 AND id <= $2 GROUP BY currency`;
const SETTLED = `SELECT u.price_key, a.currency, ${sumCount('requests')}, ${sumMoney('charged_nanos')}
  FROM usage_hours u JOIN accounts a ON a.id = u.account_id
  WHERE u.hour >= $1 AND u.hour < $2 GROUP BY u.price_key, a.currency`;
const COUNTED = `SELECT channel, price_key, currency, ${PLACE_MARGINS},
    ${sumCount('overruns')}, ${sumCount('lapses')}, ${sumMoney('overrun_nanos')}
  FROM money_hours WHERE hour >= $1 AND hour < $2 GROUP BY channel, price_key, currency
  ORDER BY channel, price_key, currency`;
/** The columns of an hour of a process: its key, and its counts. */
const KEYS = {
  hour: 'hour',
  process: 'process',
  channel: 'channel',
  priceKey: 'price_key',
  currency: 'currency',
} as const;
const COUNTS = { ...MARGIN_COLUMNS, overruns: 'overruns', overrun: 'overrun_nanos', lapses: 'lapses' } as const;
const COLUMNS = { ...KEYS, ...COUNTS } as const satisfies Readonly<Record<keyof MoneyHour, string>>;
const NAMES = Object.keys(COLUMNS) as readonly (keyof MoneyHour)[];
const WRITE = byRows(
  (rows) => `INSERT INTO money_hours (${Object.values(COLUMNS).join(', ')})
  VALUES ${valueRows(rows, NAMES.length)} ON CONFLICT (${Object.values(KEYS).join(', ')})
  DO UPDATE SET ${Object.values(COUNTS)
    .map((column) => `${column} = excluded.${column}`)
    .join(', ')}`,
);
const REMOVE = 'DELETE FROM money_hours WHERE hour < $1';

export function sqlMoneyStore(sql: Sql, size = ACCOUNTS_OF_PART): MoneyStore {
  return {
    held: async () => (await Promise.all(HELD.map((text) => sql.read(text)))).flat().map(toHeldMoney),
    accounts: async () => {
      const sums = new Map<string, AccountsMoney>();
      for await (const { after, last } of accountParts(sql.read, '', () => size))
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
        ...readMargin(row),
        overruns: readCount(row, 'overruns'),
        overrun: readMoney(row, 'overrun_nanos'),
        lapses: readCount(row, 'lapses'),
      })),
    write: async (hours) => {
      await sql.transaction(async (query) => {
        for (const chunk of inExactChunks(hours))
          await query(
            WRITE(chunk.length),
            rowValues([], chunk, (counted) => listValues(NAMES, counted)),
          );
      });
    },
    removeBefore: async (hour) => {
      await sql.write(REMOVE, [hour]);
    },
  };
}

function toHeldMoney(row: SqlRow): HeldMoney {
  return {
    priceKey: String(row['price_key']),
    currency: String(row['currency']),
    units: Number(row['amount_nanos_units']) + Number(row['amount_nanos_rest']) / NANOS_PER_UNIT,
  };
}

function addAccounts(sums: Map<string, AccountsMoney>, row: SqlRow): void {
  const currency = String(row['currency']);
  const { balance = 0n, held = 0n, accounts = 0n } = sums.get(currency) ?? {};
  sums.set(currency, {
    currency,
    balance: balance + readMoney(row, 'balance_nanos'),
    held: held + readMoney(row, 'held_nanos'),
    accounts: accounts + readCount(row, 'accounts'),
  });
}

function addSettled(sums: Map<string, SettledMoney>, row: SqlRow): void {
  const [priceKey, currency] = [String(row['price_key']), String(row['currency'])];
  const { requests = 0n, charged = 0n } = sums.get(`${priceKey} ${currency}`) ?? {};
  sums.set(`${priceKey} ${currency}`, {
    priceKey,
    currency,
    requests: requests + readCount(row, 'requests'),
    charged: charged + readMoney(row, 'charged_nanos'),
  });
}

function sortByKey<T>(sums: ReadonlyMap<string, T>): T[] {
  return [...sums].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, sum]) => sum);
}

/** The hours that one statement should read: a few milliseconds of an embedded database. */
const HOURS_OF_PART = 5000;
const ACCOUNTS_OF_FIRST_PART = 100;

const BUCKETS: Readonly<Record<MarginBucket, (column: string) => string>> = {
  hour: (column) => column,
  day: (column) => `${column} / ${DAY_MS} * ${DAY_MS}`,
};
const PLACES = { channel: 'channel', priceKey: 'price_key' } as const;

const selectPlaces = (place: keyof typeof PLACES, bucket: MarginBucket): string =>
  `SELECT ${PLACES[place]} AS margin_key, currency, ${BUCKETS[bucket]('hour')} AS bucket_at, ${PLACE_MARGINS}
  FROM money_hours WHERE hour >= $1 AND hour < $2 GROUP BY 1, 2, 3`;
// A cross join is read in this order, so each account is found first, and then its hours by their key.
const selectUsage = (accounts: string, bucket: MarginBucket): string =>
  `SELECT a.id AS margin_key, a.currency, ${BUCKETS[bucket]('u.hour')} AS bucket_at, ${ACCOUNT_MARGINS},
    COUNT(*) AS hours
  FROM accounts a CROSS JOIN usage_hours u
  WHERE ${accounts} AND u.account_id = a.id AND u.hour >= $1 AND u.hour < $2 GROUP BY 1, 2, 3`;
const selectFailed = (accounts: string, bucket: MarginBucket): string =>
  `SELECT a.id AS margin_key, a.currency, ${BUCKETS[bucket]('f.hour')} AS bucket_at,
    ${sumCount('requests', 'f.requests')}, ${sumMoney('cost_nanos', 'f.cost_nanos')}
  FROM accounts a CROSS JOIN failed_cost_hours f
  WHERE ${accounts} AND f.account_id = a.id AND f.hour >= $1 AND f.hour < $2 GROUP BY 1, 2, 3`;
const ONE = 'a.id = $3';
const OF_PART = 'a.id > $3 AND a.id <= $4';

export function sqlMarginStore({ read }: Sql, firstSize = ACCOUNTS_OF_FIRST_PART): MarginStore {
  const readAccounts = async (
    accounts: string,
    { from, to, bucket }: MarginQuery,
    ids: readonly string[],
  ): Promise<{ readonly rows: readonly MarginRow[]; readonly hours: number }> => {
    const values = [from, to, ...ids];
    const usage = await read(selectUsage(accounts, bucket), values);
    const failed = await read(selectFailed(accounts, bucket), values);
    return {
      rows: [
        ...usage.map((row) => ({ ...toPlaceOfRow(row), ...readMargin(row) })),
        ...failed.map((row) => ({ ...toPlaceOfRow(row), ...readFailed(row) })),
      ],
      hours: usage.reduce((sum, { hours }) => sum + Number(hours), 0),
    };
  };
  return {
    async *ofPlaces(place, { from, to, bucket }) {
      for (let part = from; part < to; part += DAY_MS) {
        const rows = await read(selectPlaces(place, bucket), [part, Math.min(part + DAY_MS, to)]);
        yield rows.map((row) => ({ ...toPlaceOfRow(row), ...readMargin(row) }));
      }
    },
    async *ofAccounts(query, accountId) {
      if (accountId !== undefined) {
        yield (await readAccounts(ONE, query, [accountId])).rows;
        return;
      }
      let size = firstSize;
      for await (const { after, last } of accountParts(read, '', () => size)) {
        const { rows, hours } = await readAccounts(OF_PART, query, [after, last]);
        size = chooseSize(size, hours);
        yield rows;
      }
    },
  };
}

/** Chooses the number of accounts for the next statement, as if they have as many hours each as the accounts before. */
function chooseSize(accounts: number, hours: number): number {
  const fitting = Math.floor((accounts * HOURS_OF_PART) / Math.max(hours, 1));
  return Math.max(1, Math.min(fitting, accounts * 2, ACCOUNTS_OF_PART));
}

function toPlaceOfRow(row: SqlRow): Pick<MarginRow, 'key' | 'currency' | 'bucketAt'> {
  return { key: String(row['margin_key']), currency: String(row['currency']), bucketAt: Number(row['bucket_at']) };
}

/** Nothing was charged, and the upstream reported the cost. */
function readFailed(row: SqlRow) {
  const [requests, cost] = [readCount(row, 'requests'), readMoney(row, 'cost_nanos')];
  return { ...NO_MARGIN, requests, cost, reportedRequests: requests, reportedCost: cost };
}
