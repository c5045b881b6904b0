import type { AttentionRow, Resolution } from '../../../api/operator-attention.ts';
import type { Money } from '../../../api/money.ts';
import { sumDecimals } from '../../../parts/decimal.ts';
import { moneyText } from '../../../parts/money.ts';
import { attentionWords } from '../attention-words.ts';

const words = attentionWords.attention;

/** The most entries that are decided with one reason. A person can still look over as many. */
export const BATCH_MAX = 50;

/** Entries can be decided together if they wait for the same reason and have the same possible decisions. */
export function nameCause({ isJob, reason, decisions }: AttentionRow): string {
  const possible = decisions.map(({ resolution, refusedBecause = '' }) => `${resolution} ${refusedBecause}`);
  return [isJob ? 'job' : 'task', reason, ...possible].join('\n');
}

/** What one decision over several entries does to the money. */
export interface BatchSum {
  /** By currency, without those of which nothing is charged. */
  readonly charges: readonly Money[];
  readonly releases: readonly Money[];
  /** How many entries have amounts that are not known here. */
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

/** What the button of the second step says. */
export function confirmBatchText({ charges, releases }: BatchSum, count: number): string {
  if (charges.length > 0) return words.confirm.charge(amountsText(charges));
  return releases.length > 0 ? words.confirm.release(amountsText(releases)) : words.batch.confirm(count);
}

function amountsText(amounts: readonly Money[]): string {
  return amounts.map(({ amount, currency }) => moneyText(amount, currency)).join(' + ');
}
