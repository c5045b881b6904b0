import type { ComponentChildren, VNode } from 'preact';
import { setQuery, useDraft } from '../state/address.ts';
import { serverNow } from '../state/api.ts';
import { FilterBar } from './filter-bar.tsx';
import { resolvePreset } from './period.ts';
import type { Period, Preset } from './period.ts';

export interface PeriodFiltersProps {
  readonly names: DateFieldsProps['names'] & {
    readonly period: string;
    /** The periods with their names, in their order. */
    readonly presets: Readonly<Partial<Record<Preset, string>>>;
  };
  readonly period: Period;
  readonly children: ComponentChildren;
}

/** The choice of a period above the other filters of a page. */
export function PeriodFilters({ names, period, children }: PeriodFiltersProps): VNode {
  return (
    <>
      <PresetButtons names={names} period={period} />
      <FilterBar setCount={0}>
        <DateFields names={names} period={period} />
        {children}
      </FilterBar>
    </>
  );
}

/** Buttons that choose a period with one click. It stands in the address. */
function PresetButtons({ names, period }: Pick<PeriodFiltersProps, 'names' | 'period'>): VNode {
  return (
    <div class="presets" role="group" aria-label={names.period}>
      {Object.entries(names.presets).map(([preset, name]) => {
        const own = resolvePreset(preset as Preset, serverNow());
        return (
          <button
            key={preset}
            type="button"
            aria-pressed={own.from === period.from && own.to === period.to ? 'true' : 'false'}
            onClick={() => setQuery({ ...own })}
          >
            {name}
          </button>
        );
      })}
    </div>
  );
}

interface DateFieldsProps {
  readonly names: { readonly from: string; readonly to: string };
  readonly period: Period;
}

/** The first and the last day of a period. */
function DateFields({ names, period }: DateFieldsProps): VNode {
  return (
    <>
      <DateField id="from" name={names.from} value={period.from} max={period.to} />
      <DateField id="to" name={names.to} value={period.to} min={period.from} />
    </>
  );
}

interface DateFieldProps {
  readonly id: 'from' | 'to';
  readonly name: string;
  readonly value: string;
  readonly min?: string;
  readonly max?: string;
}

/** A date acts when all of it is there. Until then the browser gives an empty value, which would be no period. */
function DateField({ id, name, value, min, max }: DateFieldProps): VNode {
  const [typed, keep] = useDraft(value);
  return (
    <div class="field">
      <label for={id}>{name}</label>
      <input
        id={id}
        type="date"
        value={typed}
        min={min}
        max={max}
        onInput={({ currentTarget }) => keep(currentTarget.value)}
        onChange={({ currentTarget }) => {
          if (currentTarget.value !== '') setQuery({ [id]: currentTarget.value });
        }}
        onBlur={() => keep(value)}
      />
    </div>
  );
}
