import type { Charge, Money, TaskMoney } from '../../../console/api/money.ts';
import type { TaskCharge, TaskHold } from '../../clients/money-client.ts';
import { formatDecimal } from '../../domain/decimal.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';

export function toMoney(nanos: bigint, currency: string): Money {
  return { amount: formatDecimal(nanos), currency };
}

/** The money of a task in a list. */
export function toCharge({ heldNanos, chargedNanos, basis, currency }: Omit<TaskCharge, 'taskId'>): Charge {
  return {
    held: toMoney(heldNanos, currency),
    ...dropUndefined({ charged: chargedNanos === undefined ? undefined : toMoney(chargedNanos, currency), basis }),
  };
}

/** The money of a task in full. */
export function toTaskMoney(hold: TaskHold, terms: unknown): TaskMoney {
  const { heldNanos, chargedNanos, currency, contract, version, facts, heldAt, settledAt, lines } = hold;
  return {
    ...toCharge(hold),
    contract,
    version,
    facts,
    heldAt,
    ...dropUndefined({
      terms,
      settledAt,
      returned:
        chargedNanos === undefined ? undefined : toMoney(heldNanos - minNanos(chargedNanos, heldNanos), currency),
    }),
    lines: lines.map(({ event, book, amountNanos, at }) => ({ event, book, amount: formatDecimal(amountNanos), at })),
  };
}

function minNanos(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}
