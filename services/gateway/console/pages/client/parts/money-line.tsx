import type { VNode } from 'preact';
import type { LedgerLine, TaskMoney, Basis, Money } from '../../../api/money.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import { moneyText, formatMoney, formatDecimal, parseNanos } from '../../../parts/number-text.tsx';
import { At, clockText } from '../../../parts/time.tsx';
import { moneyWords as words } from '../money-words.ts';

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

/** The terms of a price, as the configuration writes them. */
interface Terms {
  readonly per_second?: string | Readonly<Record<string, string>>;
  readonly per_input_second?: string;
  readonly images?: { readonly free: number; readonly each: string };
  readonly per_request?: string;
  readonly per_million_tokens?: { readonly input: string; readonly output: string };
  readonly per_million_characters?: string;
}

/** Describes the held amount, the charge with its reason, and the returned amount. `clock` writes a time. */
export function moneySentences(money: TaskMoney, resolution: string, clock: (at: number) => string): readonly string[] {
  const { held, heldAt, charged, basis } = money;
  const first = words.held(formatMoney(held), clock(heldAt), termsText(money, resolution));
  if (charged === undefined) return [first, basis === 'deferred' ? words.deferred : words.pending];
  return [first, describeCharge(charged, basis), describeReturn(money, charged)];
}

function describeCharge(charged: Money, basis: Basis | undefined): string {
  return words.charged[basis === undefined || basis === 'deferred' ? 'usage' : basis](formatMoney(charged));
}

function describeReturn({ held, returned }: TaskMoney, charged: Money): string {
  const above = (parseNanos(charged.amount) ?? 0n) - (parseNanos(held.amount) ?? 0n);
  if (above > 0n) return words.above(moneyText(formatDecimal(above), held.currency));
  return returned === undefined || parseNanos(returned.amount) === 0n
    ? words.nothingReturned
    : words.returned(formatMoney(returned));
}

/** Describes the computation of the estimate, such as `5 s × $0.08`; empty if the terms do not say. */
export function termsText({ terms, facts, held }: TaskMoney, resolution: string): string {
  if (terms === null || typeof terms !== 'object') return '';
  return termsParts(terms, facts, resolution, held.currency).join(' + ');
}

function termsParts(terms: Terms, facts: TaskMoney['facts'], resolution: string, currency: string): readonly string[] {
  const priced = (count: number | undefined, price: string | undefined, text: (n: string, each: string) => string) =>
    count === undefined || count <= 0 || price === undefined || Number(price) === 0
      ? []
      : [text(count.toLocaleString('en'), moneyText(price, currency))];
  const second = typeof terms.per_second === 'object' ? terms.per_second[resolution] : terms.per_second;
  const images = (facts['images'] ?? 0) - (terms.images?.free ?? 0);
  return [
    ...priced(1, terms.per_request, (_one, each) => words.request(each)),
    ...priced(facts['seconds'], second, words.seconds),
    ...priced(facts['input_video_seconds'], terms.per_input_second ?? second, words.inputSeconds),
    ...priced(images, terms.images?.each, words.images),
    ...priced(facts['input_tokens'], terms.per_million_tokens?.input, words.inputTokens),
    ...priced(facts['output_tokens'], terms.per_million_tokens?.output, words.outputTokens),
    ...priced(facts['characters'], terms.per_million_characters, words.characters),
  ];
}
