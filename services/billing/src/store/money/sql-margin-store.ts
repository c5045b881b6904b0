import type { Sql, SqlRow } from '@reelgate/platform/sql/sql';
import { NO_MARGIN } from '../../domain/margin.ts';
import { DAY_MS } from '../../domain/usage.ts';
import { ACCOUNTS_OF_PART, accountParts } from '../accounts/account-rows.ts';
import { ACCOUNT_MARGINS, PLACE_MARGINS, readMargin, readCount, readMoney, sumCount, sumMoney } from './money-rows.ts';
import type { MarginBucket, MarginQuery, MarginRow, MarginStore } from './money-store.ts';

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
