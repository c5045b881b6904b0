import type { VNode } from 'preact';
import type { LedgerLine, TaskMoney } from '../../../api/money.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import { moneyText } from '../../../parts/number-text.tsx';
import { At, clockText } from '../../../parts/time.tsx';
import { moneyWords as words } from '../money-words.ts';
import { moneySentences } from './money-sentences.ts';

export interface MoneyLineProps {
  readonly money: TaskMoney | undefined;
  readonly resolution: string;
  readonly isUnavailable: boolean;
}

/** The money of a task in words and figures; behind them every line of the ledger. */
export function MoneyLine({ money, resolution, isUnavailable }: MoneyLineProps): VNode {
  if (money === undefined) return <p class="note">{isUnavailable ? words.unavailable : words.none}</p>;
  const { held, charged, contract, version, lines } = money;
  const [first, ...rest] = moneySentences(money, resolution, clockText);
  return (
    <>
      <p class="money-line">
        <strong class="figure">{moneyText((charged ?? held).amount, held.currency)}</strong>
        <span>
          {first}{' '}
          {rest.map((sentence) => (
            <span key={sentence}>{sentence} </span>
          ))}
        </span>
      </p>
      <details>
        <summary>{words.ledger}</summary>
        <p class="small quiet">{words.contract(contract, version)}</p>
        <DataTable
          caption={words.ledger}
          rows={lines}
          keyOf={(line) => `${line.event} ${line.book} ${line.at}`}
          columns={[
            { name: words.columns.event, cell: ({ event }: LedgerLine) => event, isHead: true },
            { name: words.columns.book, cell: ({ book }: LedgerLine) => book },
            {
              name: words.columns.amount,
              cell: ({ amount }: LedgerLine) => moneyText(amount, held.currency),
              isNumber: true,
            },
            { name: words.columns.at, cell: ({ at }: LedgerLine) => <At at={at} /> },
          ]}
        />
      </details>
    </>
  );
}
