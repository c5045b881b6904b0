import type { VNode } from 'preact';
import { setQuery, useDraft } from '../../../state/address.ts';
import { FilterBar } from '../../../parts/filter-bar.tsx';
import { LineInput } from '../../../parts/line-input.tsx';
import { operatorWords } from '../operator-words.ts';

export interface FilterField {
  /** The parameter of the query. */
  readonly name: string;
  readonly label: string;
  readonly type: 'text' | 'date' | 'select';
  /** Values and names of a select; the first is the default, and empty. */
  readonly options?: readonly (readonly [string, string])[];
  readonly hint?: string;
}

export interface FilterFormProps {
  readonly fields: readonly FilterField[];
  readonly query: URLSearchParams;
  /** The address without filters. */
  readonly path: string;
  /** The value of a field whose filter is not set. */
  readonly defaults?: Readonly<Record<string, string>>;
}

/** Filters live in the address, so a list can be sent to a colleague. A select acts at once, a text with Enter. */
export function FilterForm({ fields, query, path, defaults = {} }: FilterFormProps): VNode {
  const apply = (form: HTMLFormElement): void => setQuery(filtersIn(new FormData(form), fields));
  const set = fields.filter(({ name }) => query.has(name));
  return (
    <form
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        apply(event.currentTarget);
      }}
    >
      <FilterBar setCount={set.length}>
        {fields.map((field) => {
          const value = query.get(field.name) ?? defaults[field.name] ?? '';
          return <Field key={`${field.name}=${value}`} field={field} value={value} onPick={apply} />;
        })}
        <p class="filter-end">
          <button type="submit">{operatorWords.filters.apply}</button>
          {set.length > 0 ? (
            <a class="button" href={path}>
              {operatorWords.filters.clear}
            </a>
          ) : null}
        </p>
      </FilterBar>
    </form>
  );
}

/** Reads the query that a form describes. A change begins at the first page. */
export function filtersIn(data: FormData, fields: readonly Pick<FilterField, 'name'>[]): Record<string, string> {
  const values = fields.map(({ name }) => {
    const value = data.get(name);
    return [name, typeof value === 'string' ? value.trim() : ''] as const;
  });
  return { ...Object.fromEntries(values), after: '' };
}

interface FieldProps {
  readonly field: FilterField;
  readonly value: string;
  readonly onPick: (form: HTMLFormElement) => void;
}

function Field({ field: { name, label, type, options = [], hint }, value, onPick }: FieldProps): VNode {
  const id = `filter-${name}`;
  const [typed, keep] = useDraft(value);
  const control =
    type === 'select' ? (
      <select
        id={id}
        name={name}
        onChange={({ currentTarget }) => {
          if (currentTarget.form !== null) onPick(currentTarget.form);
        }}
      >
        {options.map(([key, text]) => (
          <option key={key} value={key} selected={key === value}>
            {text}
          </option>
        ))}
      </select>
    ) : (
      <LineInput
        id={id}
        name={name}
        type={type}
        value={typed}
        onInput={({ currentTarget }) => keep(currentTarget.value)}
        placeholder={hint}
        autocomplete="off"
        spellcheck={false}
      />
    );
  return (
    <div>
      <label for={id}>{label}</label>
      {control}
    </div>
  );
}
