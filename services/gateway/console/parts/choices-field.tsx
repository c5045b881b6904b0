import type { VNode } from 'preact';

export interface ChoicesFieldProps {
  readonly legend: string;
  readonly options: readonly { readonly value: string; readonly name: string }[];
  readonly chosen: readonly string[];
  readonly onChange: (chosen: readonly string[]) => void;
  readonly fault?: string | undefined;
}

/** Any number of choices, each with a box of its own. */
export function ChoicesField({ legend, options, chosen, onChange, fault = '' }: ChoicesFieldProps): VNode {
  const toggled = (value: string): readonly string[] =>
    chosen.includes(value)
      ? chosen.filter((one) => one !== value)
      : options.map((option) => option.value).filter((one) => one === value || chosen.includes(one));
  return (
    <fieldset class="choices">
      <legend>{legend}</legend>
      {options.map(({ value, name }) => (
        <label key={value}>
          <input type="checkbox" checked={chosen.includes(value)} onChange={() => onChange(toggled(value))} />
          {name}
        </label>
      ))}
      <p class="fault small">{fault}</p>
    </fieldset>
  );
}
