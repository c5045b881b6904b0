import { formatAmount } from './money.ts';
import type { Nanos } from './money.ts';

/** The words of the acts that this service records. An operator acts, or a token acts on another token of its account. */
export const ACTIONS = [
  'account_credited',
  'token_created',
  'token_revoked',
  'token_limits_changed',
  'ledger_verified',
] as const;

export type Action = (typeof ACTIONS)[number];

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
