import type { VNode } from 'preact';
import { useId } from 'preact/hooks';

export interface SelectFieldProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly name: string }[];
  readonly onChange: (value: Value) => void;
  readonly hint?: string;
  /** The fault of the value, told under the field. */
  readonly fault?: string | undefined;
}

/** A choice of one. */
export function SelectField<Value extends string>({
  label,
  value,
  options,
  onChange,
  hint = '',
  fault = '',
}: SelectFieldProps<Value>): VNode {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value}
        aria-invalid={fault === '' ? undefined : 'true'}
        aria-describedby={hint === '' && fault === '' ? undefined : `${id}-hint ${id}-fault`}
        onChange={({ currentTarget }) => onChange(currentTarget.value as Value)}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value} selected={option.value === value}>
            {option.name}
          </option>
        ))}
      </select>
      {hint === '' ? null : (
        <p id={`${id}-hint`} class="hint small quiet">
          {hint}
        </p>
      )}
      {fault === '' ? null : (
        <p id={`${id}-fault`} class="fault small">
          {fault}
        </p>
      )}
    </div>
  );
}
