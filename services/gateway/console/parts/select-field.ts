import { useId } from 'preact/hooks';
import { html } from '../html.ts';
import type { VNode } from '../html.ts';

export interface SelectFieldProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly name: string }[];
  readonly onChange: (value: string) => void;
  readonly hint?: string;
  /** The fault of the value, told under the field. */
  readonly fault?: string | undefined;
}

/** A choice of one. */
export function SelectField({ label, value, options, onChange, hint = '', fault = '' }: SelectFieldProps): VNode {
  const id = useId();
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <select
      id=${id}
      value=${value}
      aria-invalid=${fault === '' ? undefined : 'true'}
      aria-describedby=${hint === '' && fault === '' ? undefined : `${id}-hint ${id}-fault`}
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
    ${hint === '' ? null : html`<p id=${`${id}-hint`} class="hint small quiet">${hint}</p>`}
    ${fault === '' ? null : html`<p id=${`${id}-fault`} class="fault small">${fault}</p>`}
  </div>`;
}
