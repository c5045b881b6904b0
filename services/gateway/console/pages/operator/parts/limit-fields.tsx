import type { VNode } from 'preact';
import { booksWords } from '../books-words.ts';
import { TextField } from '../../../parts/text-field.tsx';
import type { RpcAnswer, RpcRequest } from '../../../api/calls.ts';
import type { TokenQueue } from '../../../api/tokens.ts';
import { toEnumName } from '../../../parts/contract-values.ts';
import { AMOUNT_NANOS_MAX, formatDecimal, parseNanos } from '../../../parts/number-text.tsx';

const words = booksWords.tokens;

export type Account = NonNullable<RpcAnswer<'billing.AccountService/GetAccount'>['account']>;
export type NewToken = Omit<RpcRequest<'billing.AccountService/CreateToken'>, 'accountId'>;
/** A token of an account, without its key. */
export type Token = RpcAnswer<'billing.AccountService/ListTokens'>['tokens'][number];

export type CountName = keyof typeof words.counts;
export const COUNT_NAMES = Object.keys(words.counts) as CountName[];

/** Limits as a form holds them: texts, empty where there is none. */
export type LimitTexts = Readonly<Record<CountName | 'limit', string>>;

export type LimitFaults = Readonly<Partial<Record<keyof LimitTexts, string>>>;

/** The limits of a token in a request. */
export type LimitValues = Pick<NewToken, 'limitNanos' | 'limits'>;

export function toLimitTexts({ limitNanos, limits }: Pick<Token, 'limitNanos' | 'limits'>): LimitTexts {
  const text = (name: CountName): string => (limits?.[name] ? String(limits[name]) : '');
  return {
    limit: limitNanos === undefined ? '' : formatDecimal(BigInt(limitNanos)),
    createsPerMinute: text('createsPerMinute'),
    readsPerMinute: text('readsPerMinute'),
    callsPerMinute: text('callsPerMinute'),
    inFlight: text('inFlight'),
  };
}

/** The limits that a form names, or what is wrong with them. */
export function readLimits(texts: LimitTexts): { readonly values: LimitValues; readonly faults: LimitFaults } {
  const counts: Partial<Record<CountName, number>> = {};
  const faults: Partial<Record<keyof LimitTexts, string>> = {};
  const limit = texts.limit.trim();
  const nanos = parseNanos(limit) ?? 0n;
  if (limit !== '' && (nanos <= 0n || nanos > AMOUNT_NANOS_MAX)) faults.limit = words.limitFault;
  for (const name of COUNT_NAMES) {
    const text = texts[name].trim();
    if (/^[1-9]\d{0,8}$/.test(text)) counts[name] = Number(text);
    else if (text !== '') faults[name] = words.countFault;
  }
  return { values: { limits: counts, ...(nanos > 0n ? { limitNanos: nanos.toString() } : {}) }, faults };
}

export function toWireQueue({ wait, class: best }: TokenQueue): NonNullable<NewToken['queue']> {
  return { wait: toEnumName('TOKEN_WAIT_', wait), class: toEnumName('TOKEN_CLASS_', best) };
}

export interface LimitFieldsProps {
  readonly texts: LimitTexts;
  readonly faults: LimitFaults;
  readonly currency: string;
  readonly onChange: (texts: LimitTexts) => void;
}

/** The limits of a token: money, and counts. */
export function LimitFields({ texts, faults, currency, onChange }: LimitFieldsProps): VNode {
  return (
    <>
      <TextField
        label={words.limit(currency)}
        hint={words.limitHint}
        value={texts.limit}
        fault={faults.limit}
        inputMode="decimal"
        autocomplete="off"
        onInput={(limit) => onChange({ ...texts, limit })}
      />
      <fieldset>
        <legend>{words.countsTitle}</legend>
        <p class="small quiet">{words.countsHint}</p>
        <div class="filters">
          {COUNT_NAMES.map((name) => (
            <TextField
              key={name}
              label={words.counts[name]}
              value={texts[name]}
              fault={faults[name]}
              inputMode="numeric"
              autocomplete="off"
              onInput={(text) => onChange({ ...texts, [name]: text })}
            />
          ))}
        </div>
      </fieldset>
    </>
  );
}
