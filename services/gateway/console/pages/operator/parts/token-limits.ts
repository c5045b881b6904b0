import type { Token } from '../../../api/tokens.ts';
import { parseNanos } from '../../../parts/number-text.tsx';
import { booksWords } from '../books-words.ts';

const words = booksWords.tokens;

export type CountName = keyof Token['limits'];
export const COUNT_NAMES = Object.keys(words.counts) as CountName[];

/** Limits as a form holds them: texts, empty where there is none. */
export type LimitTexts = Readonly<Record<CountName | 'limit', string>>;

export type LimitFaults = Readonly<Partial<Record<keyof LimitTexts, string>>>;

export function toLimitTexts({ limit, limits }: Pick<Token, 'limit' | 'limits'>): LimitTexts {
  const text = (name: CountName): string => limits[name]?.toString() ?? '';
  return {
    limit: limit?.amount ?? '',
    createsPerMinute: text('createsPerMinute'),
    readsPerMinute: text('readsPerMinute'),
    callsPerMinute: text('callsPerMinute'),
    inFlight: text('inFlight'),
  };
}

/** The limits that a form names, for the API, or what is wrong with them. */
export function readLimits(texts: LimitTexts): {
  readonly values: Readonly<Record<string, string | number>>;
  readonly faults: LimitFaults;
} {
  const values: Record<string, string | number> = {};
  const faults: Partial<Record<keyof LimitTexts, string>> = {};
  const limit = texts.limit.trim();
  if (limit !== '') {
    if ((parseNanos(limit) ?? 0n) > 0n) values['limit'] = limit;
    else faults.limit = words.limitFault;
  }
  for (const name of COUNT_NAMES) {
    const text = texts[name].trim();
    if (/^[1-9]\d{0,8}$/.test(text)) values[name] = Number(text);
    else if (text !== '') faults[name] = words.countFault;
  }
  return { values, faults };
}
