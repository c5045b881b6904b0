import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import { LineInput } from './line-input.tsx';

export interface TextFieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly type?: 'text' | 'url' | 'number' | 'date' | 'datetime-local';
  readonly inputMode?: 'decimal' | 'numeric';
  readonly autocomplete?: 'off';
  readonly hint?: string;
  /** The fault of the value, told under the field. */
  readonly fault?: string | undefined;
  readonly isRequired?: boolean;
  readonly min?: number | undefined;
  readonly max?: number | undefined;
  readonly charactersMax?: number;
  /** Told when the value is left, such as to bring it into its bounds. */
  readonly onLeave?: () => void;
  /** More than one line. */
  readonly rows?: number;
}

/** A field with its label, what it takes, and what is wrong with it. */
export function TextField(props: TextFieldProps): VNode {
  const { label, value, onInput, type = 'text', hint = '', fault = '', isRequired = false, rows } = props;
  const id = useId();
  const shared = {
    id,
    value,
    required: isRequired,
    maxlength: props.charactersMax,
    autocomplete: props.autocomplete,
    'aria-invalid': fault === '' ? undefined : ('true' as const),
    'aria-describedby': `${id}-hint ${id}-fault`,
    onBlur: props.onLeave,
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      onInput(currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows === undefined ? (
        <LineInput {...shared} type={type} inputmode={props.inputMode} min={props.min} max={props.max} />
      ) : (
        <textarea {...shared} rows={rows} />
      )}
      <p id={`${id}-hint`} class="hint small quiet">
        {hint}
      </p>
      <p id={`${id}-fault`} class="fault small">
        {fault}
      </p>
    </div>
  );
}
