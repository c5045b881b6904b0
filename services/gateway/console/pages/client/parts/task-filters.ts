import { setQuery } from '../../../state/address.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { SelectField } from '../../../parts/select-field.ts';
import { tasksWords, words as common } from '../../../words.ts';

const words = tasksWords.filters;

/** The filters stand in the address. A choice acts at once, a text with Enter. */
export function TaskFilters({ query, models }: { query: URLSearchParams; models: readonly string[] }): VNode {
  const { states, kinds } = common;
  const set = (name: string) => (value: string) => {
    setQuery({ [name]: value, after: '' });
  };
  const of = (name: string): string => query.get(name) ?? '';
  const all = { value: '', name: words.all };
  const search = (event: SubmitEvent): void => {
    event.preventDefault();
    const found = new FormData(event.currentTarget as HTMLFormElement).get('find');
    setQuery({ find: typeof found === 'string' ? found.trim() : '', after: '' });
  };
  const clear = (): void => {
    setQuery(Object.fromEntries([...FILTERS, 'after'].map((name) => [name, ''])));
  };
  const modelNames = of('model') === '' || models.includes(of('model')) ? models : [of('model'), ...models];
  return html`<form class="filters" role="search" onSubmit=${search}>
    <${SelectField}
      label=${words.state}
      value=${of('state')}
      options=${[all, { value: 'running', name: words.running }, ...toOptions(states)]}
      onChange=${set('state')}
    />
    <${SelectField}
      label=${words.kind}
      value=${of('kind')}
      options=${[all, ...toOptions(kinds)]}
      onChange=${set('kind')}
    />
    <${SelectField}
      label=${words.model}
      value=${of('model')}
      options=${[all, ...modelNames.map((name) => ({ value: name, name }))]}
      onChange=${set('model')}
    />
    <${DateField} name="from" label=${words.from} value=${of('from')} onChange=${set('from')} />
    <${DateField} name="to" label=${words.to} value=${of('to')} onChange=${set('to')} />
    <div class="find">
      <label for="find">${words.find}</label>
      <input id="find" name="find" type="search" maxlength="255" value=${of('find')} />
    </div>
    <p class="filter-end">
      <button type="submit">${words.apply}</button>
      ${
        FILTERS.some((name) => query.has(name))
          ? html`<button type="button" class="quiet" onClick=${clear}>${words.clear}</button>`
          : null
      }
    </p>
  </form>`;
}

interface DateFieldProps {
  readonly name: string;
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function DateField({ name, label, value, onChange }: DateFieldProps): VNode {
  return html`<div>
    <label for=${name}>${label}</label>
    <input
      id=${name}
      type="date"
      value=${value}
      onChange=${({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
        onChange(currentTarget.value);
      }}
    />
  </div>`;
}

function toOptions(names: Readonly<Record<string, string>>): readonly { value: string; name: string }[] {
  return Object.entries(names).map(([value, name]) => ({ value, name }));
}

/** The filters of the list of tasks, as they stand in the address and in the call. */
export const FILTERS = ['state', 'kind', 'model', 'from', 'to', 'find'] as const;

/** The call behind an address. Parameters of others are left out. */
export function listPath(query: URLSearchParams): string {
  const own = new URLSearchParams();
  for (const name of [...FILTERS, 'after']) {
    const value = query.get(name)?.trim() ?? '';
    if (value !== '') own.set(name, value);
  }
  const text = own.toString();
  return text === '' ? '/tasks' : `/tasks?${text}`;
}
