import { useState } from 'preact/hooks';
import type { TaskView } from '../../api/task.ts';
import type { TryView } from '../../api/try.ts';
import { useView } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { PageTitle } from '../../parts/page-title.ts';
import { Loaded } from '../../parts/loaded.ts';
import { moneyText } from '../../parts/number-text.ts';
import { words as common } from '../../words.ts';
import { tryWords as words } from './try-words.ts';
import { useEstimate } from './parts/estimate.ts';
import type { Estimate, FreshEstimate } from './parts/estimate.ts';
import { OrderFields } from './parts/order-fields.ts';
import { OrderJson } from './parts/order-json.ts';
import { toCreateBody, toEstimateBody, firstOrder, repeatOrder } from './parts/try-order.ts';
import type { Order, Uploads } from './parts/try-order.ts';
import { useCreate } from './parts/use-create.ts';

/** Fields that tell a refusal below themselves. */
const OWN_FIELDS = /^(prompt|duration|resolution|ratio|content|image|seed|webhook_url)/;

export function page({ query }: PageProps): VNode {
  const from = query.get('from') ?? '';
  const view = useView<TryView>('/try');
  const task = useView<TaskView>(from === '' ? undefined : `/tasks/${encodeURIComponent(from)}`);
  const isReady = from === '' || task.data !== undefined || task.error !== undefined;
  return html`<${PageTitle} title=${words.title} lead=${words.intro} />
    <${Loaded} view=${view}>
      ${(data: TryView) => {
        if (!isReady) return html`<p class="quiet">${common.loading}</p>`;
        return html`<${TryStart} key=${from} view=${data} task=${task.data} fault=${task.error?.message} />`;
      }}
    <//>`;
}

interface TryStartProps {
  readonly view: TryView;
  /** The task whose order the form begins with. */
  readonly task: TaskView | undefined;
  /** The reason for which that task could not be read. */
  readonly fault: string | undefined;
}

function TryStart({ view, task, fault }: TryStartProps): VNode {
  const [model] = view.models;
  if (model === undefined) return html`<p class="note">${words.noModels}</p>`;
  if (task === undefined)
    return html`${fault === undefined ? null : html`<p class="note">${words.againFailed(fault)}</p>`}
      <${TryForm} view=${view} first=${firstOrder(model)} />`;
  const { order, missing } = repeatOrder(task);
  return html`<p class="note">${words.again(task.task.id)} ${missing === 0 ? '' : words.againMissing(missing)}</p>
    <${TryForm} view=${view} first=${order} />`;
}

/** The order as a form or as JSON, its price, and the button that creates it. */
export function TryForm({ view, first }: { view: TryView; first: Order }): VNode {
  const [order, setOrder] = useState(first);
  const [uploads, setUploads] = useState<Uploads>(new Map());
  const [isJson, setJson] = useState(false);
  const [isWhole, setWhole] = useState(true);
  const price = useEstimate(isWhole ? toEstimateBody(order, uploads) : undefined);
  const { isBusy, fault: refusal, create, forget } = useCreate();
  const fault = refusal ?? price.fault;
  const isPlaced = isJson || OWN_FIELDS.test(fault?.field ?? '');
  return html`<form
    class="try"
    onSubmit=${(event: SubmitEvent) => {
      event.preventDefault();
      if (isWhole) create(toCreateBody(order, uploads));
    }}
  >
    <${ViewChoice} isJson=${isJson} isDisabled=${!isWhole} onChange=${setJson} />
    ${
      isJson
        ? html`<${OrderJson}
            order=${order}
            fault=${fault?.message}
            onChange=${(changed: Order | undefined) => {
              forget();
              setWhole(changed !== undefined);
              if (changed !== undefined) setOrder(changed);
            }}
          />`
        : html`<${OrderFields}
            view=${view}
            order=${order}
            uploads=${uploads}
            fault=${fault}
            onChange=${(changed: Order, files: Uploads) => {
              forget();
              setOrder(changed);
              setUploads(files);
            }}
          />`
    }
    <div class="try-end">
      <${EstimateLine} estimate=${price.estimate} isStale=${price.isStale} />
      <p class="fault" role="alert">${isPlaced ? '' : fault?.message}</p>
      <${SubmitButton} isBusy=${isBusy} isDisabled=${!isWhole} />
    </div>
  </form>`;
}

/** Shows the price of the order. An old figure is dimmed until the new one arrives. */
function EstimateLine({ estimate, isStale }: Omit<FreshEstimate, 'fault'>): VNode {
  return html`<div class="estimate" role="status">
    <span class=${isStale ? 'figure stale' : 'figure'}>
      ${estimate === undefined ? '' : words.estimate.figure(moneyText(estimate.amount, estimate.currency))}
    </span>
    <span class="quiet small">
      ${estimate === undefined ? (isStale ? words.estimate.estimating : words.estimate.none) : `${factsText(estimate)} ${words.estimate.held}`}
    </span>
  </div>`;
}

function factsText({ facts }: Estimate): string {
  const told = Object.entries(words.estimate.facts).flatMap(([name, text]) => {
    const count = facts[name] ?? 0;
    return count > 0 ? [text(count)] : [];
  });
  return told.length === 0 ? '' : `${told.join(' + ')}.`;
}

function SubmitButton({ isBusy, isDisabled }: { isBusy: boolean; isDisabled: boolean }): VNode {
  return html`<button type="submit" class="main" disabled=${isBusy || isDisabled}>
    ${isBusy ? words.submitting : words.submit}
  </button>`;
}

interface ViewChoiceProps {
  readonly isJson: boolean;
  readonly isDisabled: boolean;
  readonly onChange: (isJson: boolean) => void;
}

function ViewChoice({ isJson, isDisabled, onChange }: ViewChoiceProps): VNode {
  return html`<fieldset class="view-choice" disabled=${isDisabled}>
    <legend>${words.views.legend}</legend>
    ${([false, true] as const).map(
      (value) =>
        html`<label key=${String(value)}>
          <input
            type="radio"
            name="view"
            checked=${isJson === value}
            onChange=${() => {
              onChange(value);
            }}
          />
          ${value ? words.views.json : words.views.form}
        </label>`,
    )}
  </fieldset>`;
}
