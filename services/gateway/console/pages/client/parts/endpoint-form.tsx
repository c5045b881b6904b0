import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Endpoint } from '../../../api/webhooks.ts';
import type { ApiError } from '../../../state/api.ts';
import { useAct } from '../../../state/use-act.ts';
import { readWord } from '../../../parts/contract-values.ts';
import { ChoicesField } from '../../../parts/choices-field.tsx';
import { SelectField } from '../../../parts/select-field.tsx';
import { TextField } from '../../../parts/text-field.tsx';
import { FaultLine } from '../../../parts/loaded.tsx';
import { webhooksWords } from '../webhooks-words.ts';

const words = webhooksWords.form;
const NAME_CHARACTERS_MAX = 256;
const URL_CHARACTERS_MAX = 2048;
const PAYLOADS = (['thin', 'full'] as const).map((value) => ({ value, name: words.payloads[value] }));
const FIELDS: readonly string[] = ['name', 'url', 'event_types', 'payload'];

/** The answer of the API about an endpoint. A create and a rotation have the secret. */
export interface EndpointAnswer {
  readonly id: string;
  readonly name: string;
  readonly signing_secret?: string;
}

export interface EndpointFormProps {
  /** The endpoint to change, or undefined for a new endpoint. */
  readonly endpoint?: Endpoint;
  readonly eventTypes: readonly string[];
  /** The path below `/console/api` to which it is sent. */
  readonly path: string;
  readonly submit: string;
  readonly onDone: (answer: EndpointAnswer) => void;
  readonly onCancel?: () => void;
}

interface Draft {
  readonly name: string;
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly payload: string;
}

/** The settings of an endpoint, new or changed. */
export function EndpointForm(props: EndpointFormProps): VNode {
  const { endpoint, eventTypes, path, submit, onDone, onCancel } = props;
  const first = newEndpointDraft(endpoint, eventTypes);
  const [draft, setDraft] = useState<Draft>(first);
  const { act, isBusy, fault } = useAct<EndpointAnswer>((answer) => {
    if (endpoint === undefined) setDraft(first);
    onDone(answer);
  });
  const set = (name: keyof Draft) => (value: string | readonly string[]) =>
    setDraft((before) => ({ ...before, [name]: value }));
  const send = (event: SubmitEvent): void => {
    event.preventDefault();
    const { name, url, eventTypes: chosen, payload } = draft;
    act(path, { name: name.trim(), url: url.trim(), event_types: chosen, payload });
  };
  const isPlaced = FIELDS.includes(readFaultField(fault));
  return (
    <form class="narrow" onSubmit={send}>
      <TextField
        label={words.name}
        value={draft.name}
        onInput={set('name')}
        fault={findFieldFault(fault, 'name')}
        charactersMax={NAME_CHARACTERS_MAX}
        isRequired
      />
      <TextField
        label={words.url}
        type="url"
        value={draft.url}
        onInput={set('url')}
        hint={endpoint?.disabledAt === undefined ? words.urlHint : `${words.urlHint}. ${words.enables}`}
        fault={findFieldFault(fault, 'url')}
        charactersMax={URL_CHARACTERS_MAX}
        isRequired
      />
      <ChoicesField
        legend={words.events}
        options={eventTypes.map((value) => ({ value, name: value }))}
        chosen={draft.eventTypes}
        onChange={set('eventTypes')}
        fault={findFieldFault(fault, 'event_types')}
      />
      <SelectField
        label={words.payload}
        value={draft.payload}
        options={PAYLOADS}
        onChange={set('payload')}
        fault={findFieldFault(fault, 'payload')}
      />
      <FaultLine text={isPlaced ? undefined : fault?.message} />
      <p class="actions">
        <button type="submit" class="main" disabled={isBusy}>
          {submit}
        </button>
        {onCancel === undefined ? null : (
          <button type="button" onClick={onCancel}>
            {words.cancel}
          </button>
        )}
      </p>
    </form>
  );
}

/** By default a new endpoint gets the events of ended videos. */
function newEndpointDraft(endpoint: Endpoint | undefined, eventTypes: readonly string[]): Draft {
  return endpoint === undefined
    ? { name: '', url: '', eventTypes: eventTypes.filter((type) => type.startsWith('video.')), payload: 'thin' }
    : {
        name: endpoint.name,
        url: endpoint.url,
        eventTypes: endpoint.eventTypes,
        payload: readWord('WEBHOOK_PAYLOAD_', endpoint.payload),
      };
}

function readFaultField(fault: ApiError | undefined): string {
  return fault?.field?.replace(/\[.*$/, '') ?? '';
}

function findFieldFault(fault: ApiError | undefined, name: string): string | undefined {
  return readFaultField(fault) === name ? fault?.message : undefined;
}
