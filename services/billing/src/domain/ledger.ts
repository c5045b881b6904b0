/*
 * The words of this service. A *hold* reserves the price of a task, or of calls. A *settlement* ends the hold with the
 * charge, and releases the rest. Each is a *financial event* with a key that is unique forever. An event has *postings*,
 * whose sum is zero, to *books*: available, held, revenue, credit.
 */
import type { Hold } from './hold.ts';
import type { Nanos } from './money.ts';

/** An amount posted to a book. */
export interface Posting {
  readonly book: string;
  readonly amount: Nanos;
}

/** One movement of money. Its key is unique forever. */
export interface FinancialEvent {
  readonly key: string;
  readonly kind: 'credit' | 'hold' | 'extend' | 'settle' | 'release' | 'hold_calls' | 'settle_calls';
  readonly accountId: string;
  readonly taskId: string | undefined;
  readonly currency: string;
  /** The operator's reason; empty for events of the service itself. */
  readonly reason: string;
  readonly actor: string;
  readonly at: number;
  readonly postings: readonly Posting[];
}

export interface Credit {
  readonly key: string;
  readonly accountId: string;
  readonly currency: string;
  /** Negative takes money back. */
  readonly amount: Nanos;
  readonly reason: string;
  readonly actor: string;
  readonly at: number;
}

export const SERVICE_ACTOR = 'billing';

const toAvailableBook = (accountId: string): string => `available:${accountId}`;
const toHeldBook = (accountId: string): string => `held:${accountId}`;
const REVENUE_BOOK = 'revenue';
const CREDIT_BOOK = 'credit';

const TASK_KINDS = ['hold', 'extend', 'settle', 'release'] as const;

/** The key of the task's hold, or of a void in its place. */
export const holdKey = (taskId: string): string => `hold:${taskId}`;
export const extendKey = (taskId: string): string => `extend:${taskId}`;
/** The keys of all events that a task can have. */
export const listTaskKeys = (taskId: string): readonly string[] => TASK_KINDS.map((kind) => `${kind}:${taskId}`);
export const initialCreditKey = (accountId: string): string => `credit:initial:${accountId}`;
export const creditKey = (accountId: string, requestId: string): string => `credit:request:${accountId}:${requestId}`;

export function creditEvent({ amount, ...credit }: Credit): FinancialEvent {
  return {
    ...credit,
    kind: 'credit',
    taskId: undefined,
    postings: [
      { book: toAvailableBook(credit.accountId), amount },
      { book: CREDIT_BOOK, amount: -amount },
    ],
  };
}

export function holdEvent(hold: Hold): FinancialEvent {
  return { ...toTaskEvent(hold, 'hold', hold.placedAt), postings: toReservePostings(hold, hold.amount) };
}

/** The hold grows by the amount, or shrinks by a negative one. */
export function extendEvent(hold: Hold, amount: Nanos, at: number): FinancialEvent {
  return { ...toTaskEvent(hold, 'extend', at), postings: toReservePostings(hold, amount) };
}

/** Charges the amount and returns the rest of the hold. A charge above the hold is taken from the available money. */
export function settleEvent(hold: Hold, charged: Nanos, at: number): FinancialEvent {
  return {
    ...toTaskEvent(hold, 'settle', at),
    postings: toChargePostings(hold.accountId, hold.amount, charged),
  };
}

export function releaseEvent(hold: Hold, at: number): FinancialEvent {
  return { ...toTaskEvent(hold, 'release', at), postings: toReservePostings(hold, -hold.amount) };
}

/** The sum of the calls of one batch for one account. */
export interface CallsHeld {
  readonly batchId: string;
  readonly accountId: string;
  readonly currency: string;
  readonly held: Nanos;
  readonly at: number;
}

export function callsHeldEvent({ held, ...batch }: CallsHeld): FinancialEvent {
  return { ...toBatchEvent(batch, 'hold_calls'), postings: toReservePostings(batch, held) };
}

/** Charges the sum of a batch and returns the rest of its holds. */
export function callsSettledEvent({
  held,
  charged,
  ...batch
}: CallsHeld & { readonly charged: Nanos }): FinancialEvent {
  return { ...toBatchEvent(batch, 'settle_calls'), postings: toChargePostings(batch.accountId, held, charged) };
}

export function isBalanced(postings: readonly Posting[]): boolean {
  return postings.reduce((sum, { amount }) => sum + amount, 0n) === 0n;
}

function toTaskEvent(hold: Hold, kind: (typeof TASK_KINDS)[number], at: number): Omit<FinancialEvent, 'postings'> {
  return {
    key: `${kind}:${hold.taskId}`,
    kind,
    accountId: hold.accountId,
    taskId: hold.taskId,
    currency: hold.currency,
    reason: '',
    actor: SERVICE_ACTOR,
    at,
  };
}

function toBatchEvent(
  { batchId, accountId, currency, at }: Omit<CallsHeld, 'held'>,
  kind: 'hold_calls' | 'settle_calls',
): Omit<FinancialEvent, 'postings'> {
  return {
    key: `${kind}:${batchId}:${accountId}`,
    kind,
    accountId,
    taskId: undefined,
    currency,
    reason: '',
    actor: SERVICE_ACTOR,
    at,
  };
}

function toChargePostings(accountId: string, held: Nanos, charged: Nanos): Posting[] {
  return [
    { book: toHeldBook(accountId), amount: -held },
    { book: REVENUE_BOOK, amount: charged },
    { book: toAvailableBook(accountId), amount: held - charged },
  ];
}

function toReservePostings({ accountId }: { readonly accountId: string }, amount: Nanos): Posting[] {
  return [
    { book: toAvailableBook(accountId), amount: -amount },
    { book: toHeldBook(accountId), amount },
  ];
}
