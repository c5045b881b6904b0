import { useId } from 'preact/hooks';
import { html } from '../html.ts';
import type { VNode } from '../html.ts';

export interface SelectFieldProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly name: string }[];
  readonly onChange: (value: string) => void;
}

/** A choice of one. */
export function SelectField({ label, value, options, onChange }: SelectFieldProps): VNode {
  const id = useId();
  return html`<div>
    <label for=${id}>${label}</label>
    <select
      id=${id}
      value=${value}
      onChange=${({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) => {
        onChange(currentTarget.value);
      }}
    >
      ${options.map(
        (option) =>
          html`<option key=${option.value} value=${option.value} selected=${option.value === value}>
            ${option.name}
          </option>`,
      )}
    </select>
  </div>`;
}
