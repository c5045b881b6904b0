import { useState } from 'preact/hooks';
import type { MadeToken, NewToken, Right } from '../../../api/tokens.ts';
import type { ApiError } from '../../../data/api.ts';
import { useAct } from '../../../data/use-act.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { tokensWords } from '../words/tokens.ts';
import { readTokenForm } from './read-token-form.ts';

const words = tokensWords.make;
const RIGHTS: readonly Right[] = ['none', 'read', 'write'];
/** Their faults stand under them. */
const FIELDS: ReadonlySet<string> = new Set([
  'name',
  'models',
  'limit',
  'expiresAt',
  'createsPerMinute',
  'webhooks',
  'tokens',
]);

export interface TokenFormProps {
  readonly models: readonly string[];
  readonly currency: string;
  readonly onMade: (made: MadeToken) => void;
}

/** Draws the fault of a field under it, and ties both together. */
interface Faults {
  readonly told: (field: string) => VNode | null;
  readonly about: (field: string) => object;
}

function faultsOf(fault: ApiError | undefined): Faults {
  return {
    told: (field) =>
      fault?.field === field ? html`<p class="fault" id=${`fault-${field}`} role="alert">${fault.message}</p>` : null,
    about: (field) => (fault?.field === field ? { 'aria-invalid': 'true', 'aria-describedby': `fault-${field}` } : {}),
  };
}

export function TokenForm({ models, currency, onMade }: TokenFormProps): VNode {
  const { isBusy, fault, act } = useAct<MadeToken>(onMade);
  const faults = faultsOf(fault);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const form: NewToken = readTokenForm(new FormData(event.currentTarget as HTMLFormElement));
    act('/tokens', form);
  };
  return html`<form class="card" onSubmit=${submit}>
    <h2>${words.title}</h2>
    <p class="quiet">${words.lead}</p>
    <label for="name">${words.name}</label>
    <input id="name" name="name" required maxlength="256" ...${faults.about('name')} />
    ${faults.told('name')}
    <${ModelChoice} models=${models} faults=${faults} />
    <${LimitFields} currency=${currency} faults=${faults} />
    ${fault !== undefined && !FIELDS.has(fault.field ?? '') ? html`<p class="fault" role="alert">${fault.message}</p>` : null}
    <div class="actions"><button type="submit" class="main" disabled=${isBusy}>${words.submit}</button></div>
  </form>`;
}

function ModelChoice({ models, faults }: { models: readonly string[]; faults: Faults }): VNode {
  const [isEvery, setEvery] = useState(false);
  return html`<fieldset>
    <legend>${words.models}</legend>
    <label>
      <input
        type="checkbox"
        name="models"
        value="*"
        onChange=${(event: Event) => {
          setEvery((event.currentTarget as HTMLInputElement).checked);
        }}
      />
      ${words.allModels}
    </label>
    ${models.map(
      (model) =>
        html`<label key=${model}
          ><input type="checkbox" name="models" value=${model} disabled=${isEvery} /> ${model}</label
        >`,
    )}
    ${faults.told('models')}
  </fieldset>`;
}

function LimitFields({ currency, faults }: { currency: string; faults: Faults }): VNode {
  const { told, about } = faults;
  return html`<div class="filters">
    <div>
      <label for="limit">${words.limit(currency)}</label>
      <input id="limit" name="limit" inputmode="decimal" ...${about('limit')} />
      ${told('limit')}
    </div>
    <div>
      <label for="expiresAt">${words.expires}</label>
      <input id="expiresAt" name="expiresAt" type="datetime-local" ...${about('expiresAt')} />
      ${told('expiresAt')}
    </div>
    <div>
      <label for="createsPerMinute">${words.createsPerMinute}</label>
      <input
        id="createsPerMinute"
        name="createsPerMinute"
        type="number"
        min="1"
        step="1"
        ...${about('createsPerMinute')}
      />
      ${told('createsPerMinute')}
    </div>
    ${(['webhooks', 'tokens'] as const).map(
      (field) =>
        html`<div key=${field}>
          <label for=${field}>${words[field]}</label>
          <select id=${field} name=${field} ...${about(field)}>
            ${RIGHTS.map((right) => html`<option key=${right} value=${right}>${words.choices[right]}</option>`)}
          </select>
          ${told(field)}
        </div>`,
    )}
  </div>`;
}
