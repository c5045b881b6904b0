import type { DecidedMoney, Decision, Resolution } from '../../../api/operator-attention.ts';
import type { Money } from '../../../api/money.ts';
import { formatDecimal, parseNanos } from '../../../parts/decimal.ts';
import { moneyText } from '../../../parts/money.ts';
import { attentionWords } from '../attention-words.ts';

const words = attentionWords.attention;

type MoneyMove = Pick<Decision, 'resolution' | 'charge' | 'release' | 'isUnpriced'>;

/** What a decision does to the money, in a sentence. */
export function consequenceText({ resolution, charge, release, isUnpriced }: MoneyMove): string {
  if (isUnpriced === true) return words.consequence.unpriced[resolution];
  const charged = formatNonZero(charge);
  const released = formatNonZero(release);
  if (charged !== undefined && released !== undefined) return words.consequence.both(charged, released);
  if (charged !== undefined) return words.consequence.charge(charged);
  return released === undefined ? words.consequence.nothing : words.consequence.release(released);
}

/** What a decision has done to the money, for the person who made it. */
export function outcomeText(resolution: Resolution, money: DecidedMoney | undefined): string {
  if (resolution === 'retry') return words.outcome.retry;
  if (money === undefined) return words.outcome.unknown;
  const { held, charged, released } = money;
  if (charged === undefined) return words.outcome.pending(moneyText(held.amount, held.currency));
  const reserved = parseNanos(held.amount) ?? 0n;
  const taken = parseNanos(charged.amount) ?? 0n;
  const back = formatNonZero(released);
  if (taken === 0n) return back === undefined ? words.outcome.nothing : words.outcome.returned(back);
  const charge = moneyText(charged.amount, charged.currency);
  const used = moneyText(formatDecimal(taken < reserved ? taken : reserved), held.currency);
  return words.outcome.charged(charge, used, back);
}

/** Returns the text of the button of the second step: the money that it moves. */
export function confirmText({ resolution, charge, release }: MoneyMove): string {
  const charged = formatNonZero(charge);
  const released = formatNonZero(release);
  if (charged !== undefined) return words.confirm.charge(charged);
  if (released !== undefined) return words.confirm.release(released);
  return resolution === 'retry' ? words.confirm.retry : words.confirm.other;
}

/** Undefined: no money moves. */
function formatNonZero(money: Money | undefined): string | undefined {
  return money === undefined || !/[1-9]/.test(money.amount) ? undefined : moneyText(money.amount, money.currency);
}
