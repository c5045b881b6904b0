import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { TryModel, TryView } from '../../../api/try.ts';
import type { ApiError } from '../../../state/api.ts';
import { SelectField } from '../../../parts/select-field.tsx';
import { TextField } from '../../../parts/text-field.tsx';
import { tryWords as words } from '../try-words.ts';
import { ReferenceFields } from './reference-fields.tsx';
import { clampDuration, listRatios, withOrderField, withModel, parseOrder } from './try-order.ts';
import type { Order, Uploads } from './try-order.ts';

/** For a model with a limit that cannot be read. */
const PROMPT_CHARACTERS_MAX = 7000;
const URL_CHARACTERS_MAX = 2048;
const JSON_ROWS = 18;

export interface OrderFieldsProps {
  readonly view: TryView;
  readonly order: Order;
  readonly uploads: Uploads;
  readonly fault: ApiError | undefined;
  readonly onChange: (order: Order, uploads: Uploads) => void;
}

/** The order as a form. Its choices are the model's own. */
export function OrderFields({ view, order, uploads, fault, onChange }: OrderFieldsProps): VNode {
  const model = view.models.find(({ id }) => id === order['model']);
  const set = (name: string) => (value: string | number) => onChange(withOrderField(order, name, value), uploads);
  const choose = (id: string): void => {
    const chosen = view.models.find((one) => one.id === id);
    if (chosen !== undefined) onChange(withModel(order, chosen), uploads);
  };
  return (
    <>
      <PromptField
        prompt={toFieldText(order['prompt'])}
        charactersMax={model?.promptMax ?? PROMPT_CHARACTERS_MAX}
        fault={faultAt(fault, 'prompt')}
        onInput={set('prompt')}
      />
      <div class="filters">
        <SelectField
          label={words.model}
          value={toFieldText(order['model'])}
          options={listOptions(
            view.models.map(({ id }) => id),
            order['model'],
          )}
          onChange={choose}
        />
        <FrameFields model={model} order={order} fault={fault} set={set} />
      </div>
      <ReferenceFields
        order={order}
        uploads={uploads}
        bytesMax={view.bodyBytesMax}
        fault={faultAt(fault, 'content') ?? faultAt(fault, 'image')}
        onChange={onChange}
      />
      <MoreFields withWebhook={view.webhooks} order={order} fault={fault} set={set} />
    </>
  );
}

interface PromptFieldProps {
  readonly prompt: string;
  readonly charactersMax: number;
  readonly fault: string | undefined;
  readonly onInput: (value: string) => void;
}

/** The prompt with the number of its characters, as the service counts them. */
function PromptField({ prompt, charactersMax, fault, onInput }: PromptFieldProps): VNode {
  const count = [...prompt].length;
  return (
    <div class="prompt-field">
      <TextField
        label={words.prompt}
        value={prompt}
        onInput={onInput}
        hint={`${words.promptHint} ${words.shortcut}`}
        fault={count > charactersMax ? words.tooLong(count - charactersMax) : fault}
        rows={5}
        isRequired
      />
      <span class={count > charactersMax ? 'counter fault' : 'counter quiet'}>
        {words.characters(count, charactersMax)}
      </span>
    </div>
  );
}

interface PartProps {
  readonly order: Order;
  readonly fault: ApiError | undefined;
  readonly set: (name: string) => (value: string | number) => void;
}

function FrameFields({ model, order, fault, set }: PartProps & { model: TryModel | undefined }): VNode {
  const { min, max } = model?.duration ?? {};
  return (
    <>
      <TextField
        label={words.duration}
        type="number"
        min={min}
        max={max}
        value={toFieldText(order['duration'])}
        onInput={(value) => set('duration')(toNumberOrText(value))}
        onLeave={() => {
          if (model !== undefined) set('duration')(clampDuration(order['duration'], model));
        }}
        hint={min === undefined || max === undefined ? '' : words.durationHint(min, max)}
        fault={faultAt(fault, 'duration')}
      />
      <SelectField
        label={words.resolution}
        value={toFieldText(order['resolution'])}
        options={listOptions(model?.resolutions ?? [], order['resolution'])}
        onChange={set('resolution')}
        fault={faultAt(fault, 'resolution')}
      />
      <SelectField
        label={words.ratio}
        value={toFieldText(order['ratio'])}
        options={listOptions(listRatios(model, order), order['ratio'])}
        onChange={set('ratio')}
        hint={words.ratioHint}
        fault={faultAt(fault, 'ratio')}
      />
    </>
  );
}

function MoreFields({ withWebhook, order, fault, set }: PartProps & { withWebhook: boolean }): VNode {
  return (
    <details open={order['seed'] !== undefined || order['webhook_url'] !== undefined}>
      <summary>{words.more}</summary>
      <TextField
        label={words.seed}
        type="number"
        value={toFieldText(order['seed'])}
        onInput={(value) => set('seed')(toNumberOrText(value))}
        hint={words.seedHint}
        fault={faultAt(fault, 'seed')}
      />
      {withWebhook ? (
        <TextField
          label={words.webhook}
          type="url"
          value={toFieldText(order['webhook_url'])}
          onInput={set('webhook_url')}
          hint={words.webhookHint}
          fault={faultAt(fault, 'webhook_url')}
          charactersMax={URL_CHARACTERS_MAX}
        />
      ) : null}
    </details>
  );
}

/** The message of a refusal about this field. */
function faultAt(fault: ApiError | undefined, name: string): string | undefined {
  return fault?.field?.startsWith(name) === true ? fault.message : undefined;
}

/** The choices, with the value of the order even if it is not among them. */
function listOptions(values: readonly string[], own: unknown): readonly { value: string; name: string }[] {
  const all = own === undefined || values.includes(toFieldText(own)) ? values : [toFieldText(own), ...values];
  return all.map((value) => ({ value, name: value }));
}

function toFieldText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

function toNumberOrText(text: string): number | string {
  return text === '' || Number.isNaN(Number(text)) ? text : Number(text);
}

interface OrderJsonProps {
  readonly order: Order;
  /** Undefined if the text is no order. */
  readonly onChange: (order: Order | undefined) => void;
  readonly fault: string | undefined;
}

/** The order as the body of the call. */
export function OrderJson({ order, onChange, fault }: OrderJsonProps): VNode {
  const [text, setText] = useState(() => JSON.stringify(order, null, 2));
  const parsed = parseOrder(text);
  const invalid =
    'fault' in parsed ? words.json.invalid(parsed.fault === '' ? words.json.noObject : parsed.fault) : undefined;
  return (
    <div class="json-field">
      <TextField
        label={words.json.label}
        value={text}
        rows={JSON_ROWS}
        hint={words.json.hint}
        fault={invalid ?? fault}
        onInput={(value) => {
          setText(value);
          const read = parseOrder(value);
          onChange('order' in read ? read.order : undefined);
        }}
      />
    </div>
  );
}
