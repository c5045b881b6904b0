import type { Money } from '../../../api/money.ts';
import { formatDecimal, parseNanos, sumDecimals, moneyText } from '../../../parts/number-text.tsx';
import { attentionWords } from '../attention-words.ts';
import type { AttentionRow, DecidedMoney, Decision, Resolution } from './attention-rows.ts';

/** The most entries that are decided with one reason. A person can still look over as many. */
export const BATCH_MAX = 50;

const words = attentionWords.attention;

type MoneyMove = Pick<Decision, 'resolution' | 'charge' | 'release' | 'isUnpriced'>;

/** Says in a sentence what a decision does to the money. */
export function consequenceText({ resolution, charge, release, isUnpriced }: MoneyMove): string {
  if (isUnpriced === true) return words.consequence.unpriced[resolution];
  const charged = formatNonZero(charge);
  const released = formatNonZero(release);
  if (charged !== undefined && released !== undefined) return words.consequence.both(charged, released);
  if (charged !== undefined) return words.consequence.charge(charged);
  return released === undefined ? words.consequence.nothing : words.consequence.release(released);
}

/** Says what a decision has done to the money, for the person who made it. */
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

/** Undefined if no money moves. */
function formatNonZero(money: Money | undefined): string | undefined {
  return money === undefined || !/[1-9]/.test(money.amount) ? undefined : moneyText(money.amount, money.currency);
}

/** Entries can be decided together if they wait for the same reason and have the same possible decisions. */
export function nameCause({ isJob, reason, decisions }: AttentionRow): string {
  const possible = decisions.map(({ resolution, refusedBecause = '' }) => `${resolution} ${refusedBecause}`);
  return [isJob ? 'job' : 'task', reason, ...possible].join('\n');
}

/** Says what one decision over several entries does to the money. */
interface BatchSum {
  /** By currency, without those of which nothing is charged. */
  readonly charges: readonly Money[];
  readonly releases: readonly Money[];
  /** Counts the entries whose amounts are unknown here. */
  readonly unpriced: number;
}

export function sumDecisions(rows: readonly AttentionRow[], resolution: Resolution): BatchSum {
  const decisions = rows.flatMap(({ decisions: all }) => all.filter((one) => one.resolution === resolution));
  const amounts = (name: 'charge' | 'release'): readonly Money[] => {
    const all = decisions.flatMap(({ [name]: money }) => (money === undefined ? [] : [money]));
    return [...Map.groupBy(all, ({ currency }) => currency)]
      .map(([currency, some]) => ({ currency, amount: sumDecimals(some.map(({ amount }) => amount)) }))
      .filter(({ amount }) => /[1-9]/.test(amount));
  };
  return {
    charges: amounts('charge'),
    releases: amounts('release'),
    unpriced: decisions.filter(({ isUnpriced }) => isUnpriced === true).length,
  };
}

/** The same in a sentence. */
export function sumText({ charges, releases, unpriced }: BatchSum): string {
  const [charged, released] = [amountsText(charges), amountsText(releases)];
  const moved =
    charged !== '' && released !== ''
      ? words.consequence.both(charged, released)
      : charged !== ''
        ? words.consequence.charge(charged)
        : released !== ''
          ? words.consequence.release(released)
          : '';
  const unknown = unpriced === 0 ? '' : words.batch.unpriced(unpriced);
  return [moved, unknown].filter((part) => part !== '').join(' ') || words.consequence.nothing;
}

/** Returns the label of the button of the second step. */
export function confirmBatchText({ charges, releases }: BatchSum, count: number): string {
  if (charges.length > 0) return words.confirm.charge(amountsText(charges));
  return releases.length > 0 ? words.confirm.release(amountsText(releases)) : words.batch.confirm(count);
}

function amountsText(amounts: readonly Money[]): string {
  return amounts.map(({ amount, currency }) => moneyText(amount, currency)).join(' + ');
}
