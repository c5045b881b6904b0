import { buildStatement } from '@reelgate/platform/sql/named-values';
import type { SqlQuery } from '@reelgate/platform/sql/sql';
import type { BatchTaking } from '../batch-store.ts';
import { selectTexts, text } from '../columns.ts';

/** The accounts that a lease compares. More of them than have open batches in any phase. */
const ACCOUNTS_MAX = 10_000;

/** An account with batches of a phase that have not ended. */
interface WaitingAccount {
  readonly accountId: string;
  /** The number of its batches that workers of all processes have now. */
  readonly leased: number;
}

/**
 * The accounts that have a due batch. The one with the fewest leases is first, and among equals the one that a worker left
 * longest ago. The walk jumps from account to account in the index.
 */
const LIST_ACCOUNTS = buildStatement<'phase' | 'now' | 'limit'>(
  (of) => `WITH RECURSIVE accounts (account_id) AS (
      SELECT MIN(account_id) FROM batches WHERE phase = ${of('phase')} AND due_at IS NOT NULL
      UNION ALL
      SELECT (SELECT MIN(batches.account_id) FROM batches
        WHERE batches.phase = ${of('phase')} AND batches.due_at IS NOT NULL
          AND batches.account_id > accounts.account_id)
      FROM accounts WHERE accounts.account_id IS NOT NULL
    )
    SELECT account_id, leased FROM (
      SELECT account_id,
        (SELECT MIN(due_at) FROM batches WHERE phase = ${of('phase')} AND due_at IS NOT NULL
          AND batches.account_id = accounts.account_id) AS first_due,
        (SELECT MAX(due_at) FROM batches WHERE phase = ${of('phase')} AND due_at IS NOT NULL
          AND batches.account_id = accounts.account_id) AS last_due,
        (SELECT COUNT(*) FROM batches WHERE phase = ${of('phase')} AND due_at IS NOT NULL
          AND batches.account_id = accounts.account_id AND due_at > ${of('now')} AND lease IS NOT NULL) AS leased
      FROM accounts WHERE account_id IS NOT NULL
    ) AS waiting
    WHERE first_due <= ${of('now')} ORDER BY leased, last_due, account_id LIMIT ${of('limit')}`,
);

/**
 * Chooses the batches that a worker takes: accounts take turns, so that the many batches of one do not stand before the
 * only batch of another, and of an account its oldest one comes first.
 */
export async function chooseTurns(query: SqlQuery, taking: BatchTaking): Promise<readonly string[]> {
  const { phase, now, limit, perAccountMax = limit } = taking;
  const rows = await query(...LIST_ACCOUNTS({ phase, now, limit: ACCOUNTS_MAX }));
  const accounts = rows
    .map((row) => ({ accountId: text(row['account_id']), leased: Number(row['leased']) }))
    .filter(({ leased }) => leased < perAccountMax)
    .slice(0, limit);
  const dues = await listDues(query, taking, accounts);
  const turns = accounts.flatMap(({ accountId, leased }) =>
    (dues.get(accountId) ?? []).slice(0, perAccountMax - leased).map((id, index) => ({ id, round: leased + index })),
  );
  return turns
    .sort((one, other) => one.round - other.round)
    .slice(0, limit)
    .map(({ id }) => id);
}

/** The due batches of each account, the oldest first. */
async function listDues(
  query: SqlQuery,
  { phase, now, limit }: BatchTaking,
  accounts: readonly WaitingAccount[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const dues = new Map<string, readonly string[]>();
  for (const { accountId } of accounts) {
    const due = 'batches WHERE phase = $1 AND account_id = $2 AND due_at IS NOT NULL AND due_at <= $3';
    const ids = await selectTexts(query, 'id', `${due} ORDER BY id LIMIT $4`, [phase, accountId, now, limit]);
    dues.set(accountId, ids);
  }
  return dues;
}
