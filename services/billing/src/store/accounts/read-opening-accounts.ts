import type { SqlInteger, SqlQuery, SqlRow } from '@reelgate/platform/sql/sql';
import { formatAmount } from '../../domain/money.ts';
import { DEFAULT_QUEUE } from '../../domain/token.ts';

/** The accounts of one read. */
const PAGE = 500;
/** The valid tokens of one account that are carried over. An account can have 10,000 in all. */
const TOKENS_MAX = 10_000;

/** A token as the configuration of a new store has it, without its key. */
export interface OpeningToken {
  readonly id: string;
  readonly keyHash: string;
  readonly entry: object;
}

/** An account with the money that a new store begins with. */
export interface OpeningAccount {
  readonly id: string;
  readonly currency: string;
  readonly balance: bigint;
  /** The part of the balance that is held for work which had not ended. */
  readonly held: bigint;
  readonly tokens: readonly OpeningToken[];
}

/**
 * Reads the accounts of a store of any age, ordered by their ids, with the tokens that are valid now. It uses only columns
 * that every store has had from the beginning; those that came later may be missing.
 */
export async function* readOpeningAccounts(read: SqlQuery, now: number): AsyncGenerator<OpeningAccount> {
  for (let after = ''; ;) {
    const rows = await read<AccountRow>(
      'SELECT id, currency, balance_nanos, held_nanos FROM accounts WHERE id > $1 ORDER BY id LIMIT $2',
      [after, PAGE],
    );
    for (const { id, currency, balance_nanos: balance, held_nanos: held } of rows)
      yield { id, currency, balance: BigInt(balance), held: BigInt(held), tokens: await readTokens(read, id, now) };
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.id ?? '';
  }
}

type AccountRow = { id: string; currency: string; balance_nanos: SqlInteger; held_nanos: SqlInteger };

async function readTokens(read: SqlQuery, accountId: string, now: number): Promise<readonly OpeningToken[]> {
  const rows = await read(
    `SELECT * FROM tokens WHERE account_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)
     ORDER BY created_at, id LIMIT $3`,
    [accountId, now, TOKENS_MAX],
  );
  return rows.flatMap((row) => {
    // its maker bounds it, which no configuration can express
    if ((row['made_by_token_id'] ?? undefined) !== undefined) return [];
    const limit = row['limit_nanos'] ?? undefined;
    const left = limit === undefined ? undefined : BigInt(limit) - BigInt(row['used_nanos'] ?? 0);
    // a token without money left is useless, and its limit cannot be zero
    if (left !== undefined && left <= 0n) return [];
    return [{ id: String(row['id']), keyHash: String(row['key_hash']), entry: toEntry(row, left) }];
  });
}

/** Returns the entry of the configuration. The limit is the money that the token had left. */
function toEntry(row: SqlRow, left: bigint | undefined): object {
  const limits = takeSet(row, ['creates_per_minute', 'reads_per_minute', 'calls_per_minute', 'in_flight']);
  const expires = row['expires_at'] ?? undefined;
  const right = row['token_right'] ?? undefined;
  const wait = row['queue_wait'] ?? DEFAULT_QUEUE.wait;
  const ofClass = row['queue_class'] ?? DEFAULT_QUEUE.class;
  const hasQueue = wait !== DEFAULT_QUEUE.wait || ofClass !== DEFAULT_QUEUE.class;
  return {
    ...(row['name'] === '' ? {} : { name: row['name'] }),
    models: JSON.parse(String(row['models'])) as unknown,
    ...(left === undefined ? {} : { limit: formatAmount(left) }),
    ...(expires === undefined ? {} : { expires: new Date(Number(expires)).toISOString() }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    ...takeSet(row, ['webhooks']),
    ...(right === undefined ? {} : { tokens: right }),
    ...(hasQueue ? { queue: { wait, class: ofClass } } : {}),
  };
}

function takeSet(row: SqlRow, names: readonly string[]): object {
  return Object.fromEntries(
    names.flatMap((name) => ((row[name] ?? undefined) === undefined ? [] : [[name, row[name]]])),
  );
}
