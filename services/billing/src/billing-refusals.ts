import type { Problem } from '@reelgate/platform/problem';
import { formatAmount } from './domain/money.ts';
import type { Nanos } from './domain/money.ts';
import type { PriceFault } from './domain/price.ts';
import { refuse } from './refusals.ts';

/** Every refusal of billing. */

export function unknownKey(): Problem {
  return refuse('invalid_api_key');
}

export function tokenDisabled(because: 'revoked' | 'expired'): Problem {
  return refuse('token_disabled', {
    message: `the API key ${because === 'revoked' ? 'has been revoked' : 'has expired'}; use another one`,
  });
}

export function unknownAccount(field: string): Problem {
  return refuse('account_not_found', { field, message: 'must be the id of an account' });
}

export function unknownToken(field: string): Problem {
  return refuse('token_not_found', { field, message: 'must be the id of a token of the account' });
}

export function tokensNotAllowed(): Problem {
  return refuse('tokens_not_allowed');
}

export function tooManyMakers(makersMax: number): Problem {
  return refuse('too_many_tokens', {
    message:
      `a token may have at most ${makersMax} makers, each made by the next; ` +
      'make this one with the token that made yours',
  });
}

export function tooManyTokens(what: string): Problem {
  return refuse('too_many_tokens', { message: `the account ${what}` });
}

export function unknownHold(): Problem {
  return refuse('hold_not_found', { field: 'task_id', message: 'must be the id of a task with a hold' });
}

/** The hold was released, before or after it was placed. The task cannot be submitted under it. */
export function holdVoided(): Problem {
  return refuse('hold_voided', { message: 'the hold of this task has been released' });
}

export function holdEnded(): Problem {
  return refuse('hold_ended');
}

export function taskIdTaken(): Problem {
  return refuse('task_id_taken', {
    field: 'task_id',
    message: 'is the id of a task of another account; send a new one',
  });
}

export function callIdTaken(): Problem {
  return refuse('call_id_taken', {
    field: 'call_id',
    message: 'is the id of a call of another account; send a new one',
  });
}

/** The call was released, before or after it was placed. It cannot be sent to an upstream. */
export function callVoided(): Problem {
  return refuse('hold_voided', { message: 'the hold of this call has been released' });
}

export function requestIdReused(): Problem {
  return refuse('request_id_reused', {
    field: 'request_id',
    message: 'was used before with another amount; send a new one',
  });
}

export interface Shortage {
  /** `maker` stands for the limit of an ancestor of the caller's token. The caller does not learn its amount. */
  readonly of: 'account' | 'token' | 'maker';
  readonly needed: Nanos;
  readonly left: Nanos;
  readonly currency: string;
}

export function insufficientQuota({ of, needed, left, currency }: Shortage): Problem {
  const what = {
    account: `the account has ${formatAmount(left)} ${currency} available`,
    token: `the API key has ${formatAmount(left)} ${currency} of its limit left`,
    maker: 'a limit of the API key that made this one leaves too little',
  }[of];
  return refuse('insufficient_quota', {
    message: `${what}, but this request needs ${formatAmount(needed)} ${currency}`,
  });
}

/** A bound that a hold does not fit. */
export interface ExcessPrice {
  /** The amount of the hold. */
  readonly amount: Nanos;
  /** The least bound that it fits: the amount, or more if its usage can cost more. */
  readonly leastBound: Nanos;
  readonly maxAmount: Nanos;
  readonly currency: string;
}

export function priceAboveMax({ amount, leastBound, maxAmount, currency }: ExcessPrice): Problem {
  const [least, most] = [formatAmount(leastBound), formatAmount(maxAmount)];
  const costs =
    leastBound === amount
      ? `this request costs ${least} ${currency}`
      : `this request holds ${formatAmount(amount)} ${currency} and can cost up to ${least} ${currency}`;
  return refuse('price_above_max', {
    field: 'max_amount_nanos',
    message: `is ${most} ${currency}, but ${costs}`,
    metadata: { amount: formatAmount(amount), max_amount: least, currency },
  });
}

const PRICE_FAULTS: Readonly<Record<PriceFault | 'no_contract', string>> = {
  no_contract: 'no price is set for this model and operation',
  no_resolution_price: 'no price is set for this resolution of the model',
  no_hold: 'the price of this model and operation has no hold for an order whose tokens or seconds are not known yet',
  too_large: 'the amount of this order is too large',
};

export function noPrice(fault: PriceFault | 'no_contract'): Problem {
  return refuse('model_price_error', { message: PRICE_FAULTS[fault] });
}

export function amountOutOfBounds(field?: string): Problem {
  return refuse('amount_out_of_bounds', {
    field,
    message: field === undefined ? 'the amount is too large' : 'must keep the balance of the account within its bounds',
  });
}

export function badField(field: string, message: string): Problem {
  return refuse('invalid_request', { field, message });
}
