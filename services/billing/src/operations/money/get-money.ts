import { DAY_MS, HOUR_MS, floorToHour } from '../../domain/usage.ts';
import { badField } from '../../billing-refusals.ts';
import type { LedgerCheck } from '../../store/ledger/ledger-audit.ts';
import type { AccountsMoney, MoneyCount, MoneyPlace, SettledMoney } from '../../store/money/money-store.ts';
import type { BillingDeps } from '../deps.ts';

const DAYS_MAX = 31;

export interface Money {
  readonly held: readonly AccountsMoney[];
  readonly settled: readonly SettledMoney[];
  /** Of work whose cost at its upstream is known. */
  readonly margins: readonly (MoneyPlace & MoneyCount)[];
  readonly overruns: bigint;
  readonly overrun: bigint;
  readonly lapses: bigint;
  readonly lastCheck: LedgerCheck | undefined;
}

/** The money of all accounts now, and what was settled in the hours of a period. */
export async function getMoney(
  { money, ledgerChecks }: BillingDeps,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Money> {
  if (from < 0) throw badField('from', 'must be a time from 1970 on');
  if (from >= to) throw badField('to', 'must be later than from');
  if (to - from > DAYS_MAX * DAY_MS) throw badField('to', `must be at most ${DAYS_MAX} days after from`);
  const span = { from: floorToHour(from), to: floorToHour(to + HOUR_MS - 1) };
  const [held, settled, counted, lastCheck] = await Promise.all([
    money.accounts(),
    money.settled(span),
    money.counted(span),
    ledgerChecks.last(),
  ]);
  const sumField = (name: 'overruns' | 'overrun' | 'lapses'): bigint =>
    counted.reduce((sum, count) => sum + count[name], 0n);
  return {
    held,
    settled,
    margins: counted.filter(({ requests }) => requests > 0n),
    overruns: sumField('overruns'),
    overrun: sumField('overrun'),
    lapses: sumField('lapses'),
    lastCheck,
  };
}
