import { html } from '../html.ts';
import type { VNode } from '../html.ts';
import { setQuery } from '../state/address.ts';
import { serverNow } from '../state/server-clock.ts';
import { resolvePreset } from './period.ts';
import type { Period, Preset } from './period.ts';

export interface PresetButtonsProps {
  readonly label: string;
  /** The periods with their names, in their order. */
  readonly names: Readonly<Partial<Record<Preset, string>>>;
  readonly period: Period;
}

/** Buttons that choose a period with one click. It stands in the address. */
export function PresetButtons({ label, names, period }: PresetButtonsProps): VNode {
  return html`<div class="presets" role="group" aria-label=${label}>
    ${Object.entries(names).map(([preset, name]) => {
      const own = resolvePreset(preset as Preset, serverNow());
      return html`<button
        key=${preset}
        type="button"
        aria-pressed=${own.from === period.from && own.to === period.to ? 'true' : 'false'}
        onClick=${() => {
          setQuery({ ...own });
        }}
      >
        ${name}
      </button>`;
    })}
  </div>`;
}

export interface DateFieldsProps {
  readonly names: { readonly from: string; readonly to: string };
  readonly period: Period;
}

/** The first and the last day of a period. */
export function DateFields({ names, period }: DateFieldsProps): VNode {
  const change = (name: string) => (event: Event) => {
    setQuery({ [name]: (event.currentTarget as HTMLInputElement).value });
  };
  return html`<div class="field">
      <label for="from">${names.from}</label>
      <input id="from" type="date" value=${period.from} max=${period.to} onChange=${change('from')} />
    </div>
    <div class="field">
      <label for="to">${names.to}</label>
      <input id="to" type="date" value=${period.to} min=${period.from} onChange=${change('to')} />
    </div>`;
}
