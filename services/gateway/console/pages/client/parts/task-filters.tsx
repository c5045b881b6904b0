import type { VNode } from 'preact';
import { TASK_FILTERS } from '../../../client-filters.ts';
import type { TaskFilterName } from '../../../client-filters.ts';
import type { Filter, FilterOf } from '../../../filters.ts';
import type { TaskList } from '../../../api/tasks.ts';
import { setQuery, useDraft } from '../../../state/address.ts';
import { FilterBar } from '../../../parts/filter-bar.tsx';
import { LineInput } from '../../../parts/line-input.tsx';
import { SelectField } from '../../../parts/select-field.tsx';
import { tasksWords } from '../client-words.ts';
import { words as common } from '../../../words.ts';

const words = tasksWords.filters;

type Option = Readonly<Record<'value' | 'name', string>>;

/** A choice among known values. Other values are typed. */
type OptionsOf = Readonly<Record<FilterOf<typeof TASK_FILTERS, 'select'> | 'model' | 'token', readonly Option[]>>;

export interface TaskFiltersProps extends Pick<TaskList, 'models' | 'tokens'> {
  readonly query: URLSearchParams;
}

/** The filters stand in the address. A choice acts at once, a text with Enter. */
export function TaskFilters({ query, models, tokens }: TaskFiltersProps): VNode {
  const { states, kinds } = common;
  const set = (name: string) => (value: string) => setQuery({ [name]: value, after: '' });
  const of = (name: string): string => query.get(name) ?? '';
  const all = { value: '', name: words.all };
  const search = (event: SubmitEvent): void => {
    event.preventDefault();
    const found = new FormData(event.currentTarget as HTMLFormElement).get('find');
    setQuery({ find: typeof found === 'string' ? found.trim() : '', after: '' });
  };
  const clear = (): void =>
    setQuery(Object.fromEntries([...Object.keys(TASK_FILTERS), 'after'].map((name) => [name, ''])));
  const options: OptionsOf = {
    state: [{ value: 'running', name: words.running }, ...toOptions(states)],
    kind: toOptions(kinds),
    model: withChosen(
      models.map((name) => ({ value: name, name })),
      of('model'),
    ),
    token: withChosen(
      tokens.map(({ id, name }) => ({ value: id, name: name === '' ? id : name })),
      of('token'),
    ),
  };
  const renderField = ([key, { type }]: readonly [string, Filter]): VNode => {
    const name = key as TaskFilterName;
    const props = { key: name, name, label: words[name], value: of(name), onChange: set(name) };
    const own = options[name as keyof OptionsOf];
    if (own !== undefined) return <SelectField {...props} options={[all, ...own]} />;
    return <InputField {...props} type={type === 'date' ? 'date' : 'text'} />;
  };
  // a phone folds all but the search
  const folded = Object.entries(TASK_FILTERS).filter(([, { type }]) => type !== 'search');
  return (
    <form role="search" class="task-filters" onSubmit={search}>
      <SearchField name="find" label={words.find} value={of('find')} />
      <FilterBar setCount={folded.filter(([name]) => query.has(name)).length}>
        {folded.map(renderField)}
        {isFiltered(query) ? (
          <p class="filter-end">
            <button type="button" onClick={clear}>
              {words.clear}
            </button>
          </p>
        ) : null}
      </FilterBar>
    </form>
  );
}

interface FieldProps {
  readonly name: TaskFilterName;
  readonly label: string;
  readonly value: string;
}

interface InputFieldProps extends FieldProps {
  readonly type: 'text' | 'date';
  readonly onChange: (value: string) => void;
}

function InputField({ name, label, value, type, onChange }: InputFieldProps): VNode {
  const [typed, keep] = useDraft(value);
  return (
    <div>
      <label for={name}>{label}</label>
      <LineInput
        id={name}
        type={type}
        value={typed}
        onInput={({ currentTarget }) => keep(currentTarget.value)}
        onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
      />
    </div>
  );
}

function SearchField({ name, label, value }: FieldProps): VNode {
  const [typed, keep] = useDraft(value);
  return (
    <div class="find">
      <label for={name}>{label}</label>
      <div class="find-line">
        <input
          id={name}
          name={name}
          type="search"
          maxlength={TASK_FILTERS.find.most}
          value={typed}
          onInput={({ currentTarget }) => keep(currentTarget.value)}
        />
        <button type="submit">{words.apply}</button>
      </div>
    </div>
  );
}

/** A link can name a value that is not known here. */
function withChosen(options: readonly Option[], value: string): readonly Option[] {
  return value === '' || options.some((option) => option.value === value)
    ? options
    : [{ value, name: value }, ...options];
}

function toOptions(names: Readonly<Record<string, string>>): readonly Option[] {
  return Object.entries(names).map(([value, name]) => ({ value, name }));
}

/** Reports whether the list is filtered. */
export function isFiltered(query: URLSearchParams): boolean {
  return Object.keys(TASK_FILTERS).some((name) => query.has(name));
}

/** The call behind an address. Parameters of others are left out. */
export function listPath(query: URLSearchParams): string {
  const own = new URLSearchParams();
  for (const name of [...Object.keys(TASK_FILTERS), 'after']) {
    const value = query.get(name)?.trim() ?? '';
    if (value !== '') own.set(name, value);
  }
  const text = own.toString();
  return text === '' ? '/tasks' : `/tasks?${text}`;
}
