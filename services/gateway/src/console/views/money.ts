import type { Charge, Money, TaskMoney } from '../../../console/api/money.ts';
import type { TaskCharge, TaskHold } from '../../clients/money-client.ts';
import { decimalOf } from '../../domain/decimal.ts';
import { present } from './present.ts';

export function moneyOf(nanos: bigint, currency: string): Money {
  return { amount: decimalOf(nanos), currency };
}

/** The money of a task in a list. */
export function chargeOf({ heldNanos, chargedNanos, basis, currency }: Omit<TaskCharge, 'taskId'>): Charge {
  return {
    held: moneyOf(heldNanos, currency),
    ...present({ charged: chargedNanos === undefined ? undefined : moneyOf(chargedNanos, currency), basis }),
  };
}

/** The money of a task in full. */
export function taskMoneyOf(hold: TaskHold, terms: unknown): TaskMoney {
  const { heldNanos, chargedNanos, currency, contract, version, facts, heldAt, settledAt, lines } = hold;
  return {
    ...chargeOf(hold),
    contract,
    version,
    facts,
    heldAt,
    ...present({
      terms,
      settledAt,
      returned: chargedNanos === undefined ? undefined : moneyOf(heldNanos - least(chargedNanos, heldNanos), currency),
    }),
    lines: lines.map(({ event, book, amountNanos, at }) => ({ event, book, amount: decimalOf(amountNanos), at })),
  };
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
