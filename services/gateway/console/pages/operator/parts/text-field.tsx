import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import { LineInput } from '../../../parts/line-input.tsx';
import { operatorWords } from '../operator-words.ts';

export interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly hint?: string;
  /** Told under the field. */
  readonly fault?: string | undefined;
  readonly inputMode?: 'decimal' | 'numeric';
  readonly type?: 'text' | 'date';
  readonly isLong?: boolean;
  readonly isRequired?: boolean;
}

/** A field with its label, its hint, and what is wrong with it. */
export function TextField(props: TextFieldProps): VNode {
  const { label, value, onInput, hint, fault, inputMode, type = 'text', isLong = false, isRequired = false } = props;
  const id = useId();
  const shared = {
    id,
    value,
    required: isRequired,
    autocomplete: 'off',
    'aria-invalid': fault === undefined ? undefined : ('true' as const),
    'aria-describedby': `${id}-hint ${id}-fault`,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      onInput(currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {isLong ? <textarea rows={3} {...shared} /> : <LineInput type={type} inputmode={inputMode} {...shared} />}
      <p id={`${id}-hint`} class="small quiet">
        {hint ?? ''}
      </p>
      <p id={`${id}-fault`} class="fault">
        {fault ?? ''}
      </p>
    </div>
  );
}

const CHARACTERS_MAX = 500;

export interface ReasonFieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Told under the field. */
  readonly fault?: string | undefined;
  readonly isDisabled?: boolean;
  readonly charactersMax?: number;
}

/** Shows the field for the reason of an operator's act. */
export function ReasonField({
  value,
  onInput,
  fault,
  isDisabled = false,
  charactersMax = CHARACTERS_MAX,
}: ReasonFieldProps): VNode {
  const id = useId();
  return (
    <div>
      <label for={id}>{operatorWords.reason.label}</label>
      <textarea
        id={id}
        rows={2}
        required
        maxlength={charactersMax}
        disabled={isDisabled}
        aria-invalid={fault === undefined ? undefined : 'true'}
        aria-describedby={`${id}-hint ${id}-fault`}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      <p id={`${id}-hint`} class="small quiet">
        {operatorWords.reason.hint(charactersMax)}
      </p>
      <p id={`${id}-fault`} class="fault">
        {fault ?? ''}
      </p>
    </div>
  );
}
