import { formatAmount } from './money.ts';
import type { Nanos } from './money.ts';

/** Of the ids of acts. */
export const ACT_PREFIX = 'act';

/** An act of an operator, or of a token on another token of its account. */
export interface Act {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly actor: string;
  readonly action: 'account_credited' | 'token_created' | 'token_revoked' | 'token_limits_changed' | 'ledger_verified';
  /** The id of the account or token; of the whole ledger: `ledger`. */
  readonly subject: string;
  /** Empty if no reason was given. */
  readonly reason: string;
  readonly detail: ActDetail;
}

/** An undefined value is left out. */
export interface ActDetail {
  readonly [name: string]: string | number | boolean | readonly string[] | ActDetail | undefined;
}

/** The actor of the acts of a token. */
export function tokenActor({ id, name }: { readonly id: string; readonly name: string }): string {
  return `token ${name === '' ? id : name}`;
}

export function amountDetail(amount: Nanos | undefined): string | undefined {
  return amount === undefined ? undefined : formatAmount(amount);
}
