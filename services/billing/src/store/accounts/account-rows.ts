import type { Account } from '../../domain/account.ts';

type Whole = number | bigint;
export type AccountRow = {
  id: string;
  currency: string;
  balance_nanos: Whole;
  held_nanos: Whole;
  created_at: Whole;
};

export const ACCOUNT_COLUMNS = 'id, currency, balance_nanos, held_nanos, created_at';

export function toAccount(row: AccountRow): Account {
  return {
    id: row.id,
    currency: row.currency,
    balance: BigInt(row.balance_nanos),
    held: BigInt(row.held_nanos),
    createdAt: Number(row.created_at),
  };
}
