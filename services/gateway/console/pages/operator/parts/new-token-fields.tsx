import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import type { Right } from '../../../api/tokens.ts';
import { QueueFields } from '../../../parts/queue-fields.tsx';
import { booksWords } from '../books-words.ts';
import { LimitFields } from './limit-fields.tsx';
import type { NewTokenTexts } from './new-token.ts';
import { TextField } from './text-field.tsx';
import type { LimitFaults } from './limit-fields.tsx';

const words = booksWords.tokens;
const RIGHTS = Object.keys(words.right) as Right[];

export interface NewTokenFieldsProps {
  readonly form: NewTokenTexts;
  readonly faults: LimitFaults;
  readonly currency: string;
  readonly onChange: (form: NewTokenTexts) => void;
}

/** Shows the fields for the name, the limits and the rights of a new token. */
export function NewTokenFields({ form, faults, currency, onChange }: NewTokenFieldsProps): VNode {
  const setter =
    <Name extends keyof NewTokenTexts>(name: Name) =>
    (value: NewTokenTexts[Name]): void =>
      onChange({ ...form, [name]: value });
  return (
    <>
      <TextField label={words.name} hint={words.nameHint} value={form.name} isRequired onInput={setter('name')} />
      <TextField
        label={words.models}
        hint={words.modelsHint}
        value={form.models}
        isLong
        isRequired
        onInput={setter('models')}
      />
      <LimitFields texts={form.limits} faults={faults} currency={currency} onChange={setter('limits')} />
      <TextField
        label={words.expiresAt}
        hint={words.expiresHint}
        value={form.expires}
        type="date"
        onInput={setter('expires')}
      />
      <RightField label={words.webhooksRight} value={form.webhooks} onPick={setter('webhooks')} />
      <RightField label={words.tokensRight} value={form.tokens} onPick={setter('tokens')} />
      <QueueFields queue={form.queue} onChange={setter('queue')} />
    </>
  );
}

interface RightFieldProps {
  readonly label: string;
  readonly value: Right;
  readonly onPick: (right: Right) => void;
}

/** Shows the field for the right of a token on webhooks, or on the tokens of its account. */
function RightField({ label, value, onPick }: RightFieldProps): VNode {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        onChange={({ currentTarget }) => onPick(RIGHTS.find((right) => right === currentTarget.value) ?? value)}
      >
        {RIGHTS.map((right) => (
          <option key={right} value={right} selected={right === value}>
            {words.right[right]}
          </option>
        ))}
      </select>
    </div>
  );
}
