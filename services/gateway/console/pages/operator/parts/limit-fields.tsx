import type { VNode } from 'preact';
import { booksWords } from '../books-words.ts';
import { TextField } from './text-field.tsx';
import { COUNT_NAMES } from './token-limits.ts';
import type { LimitFaults, LimitTexts } from './token-limits.ts';

const words = booksWords.tokens;

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
        onInput={(limit) => {
          onChange({ ...texts, limit });
        }}
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
              onInput={(text) => {
                onChange({ ...texts, [name]: text });
              }}
            />
          ))}
        </div>
      </fieldset>
    </>
  );
}
