import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { MadeToken, NewToken, Right } from '../../../api/tokens.ts';
import { TASK_FILTERS } from '../../../client-filters.ts';
import type { ApiError } from '../../../state/api.ts';
import { useAct } from '../../../state/use-act.ts';
import { ChoicesField } from '../../../parts/choices-field.tsx';
import { QueueFields, DEFAULT_QUEUE } from '../../../parts/queue-fields.tsx';
import { SelectField } from '../../../parts/select-field.tsx';
import { TextField } from '../../../parts/text-field.tsx';
import { FaultLine } from '../../../parts/loaded.tsx';
import { tokensWords } from '../tokens-words.ts';

const words = tokensWords.make;
const NAME_CHARACTERS_MAX = 256;
const RIGHTS = (['none', 'read', 'write'] as const).map((value) => ({ value, name: words.choices[value] }));
const EVERY = '*';
const COUNTS = ['createsPerMinute', 'readsPerMinute', 'callsPerMinute', 'inFlight'] as const;

export interface TokenFormProps {
  readonly models: readonly string[];
  readonly currency: string;
  readonly onMade: (made: MadeToken) => void;
}

export function TokenForm({ models, currency, onMade }: TokenFormProps): VNode {
  const [draft, setDraft] = useState(EMPTY_TOKEN);
  const { act, isBusy, fault } = useAct<MadeToken>((made) => {
    setDraft(EMPTY_TOKEN);
    onMade(made);
  });
  const set = (change: Partial<TokenDraft>): void => setDraft((before) => ({ ...before, ...change }));
  return (
    <section>
      <h2>{words.title}</h2>
      <p class="quiet">{words.lead}</p>
      <form
        class="narrow wide"
        onSubmit={(event) => {
          event.preventDefault();
          act('/tokens', toNewToken(draft));
        }}
      >
        <TextField
          label={words.name}
          value={draft.name}
          onInput={(name) => set({ name })}
          hint={words.nameHint}
          fault={findFieldFault(fault, 'name')}
          charactersMax={NAME_CHARACTERS_MAX}
          isRequired
        />
        <ModelChoices models={models} draft={draft} fault={findFieldFault(fault, 'models')} set={set} />
        <MoneyAndRights draft={draft} currency={currency} fault={fault} set={set} />
        <FaultLine text={isPlaced(fault) ? undefined : fault?.message} />
        <button type="submit" class="main" disabled={isBusy}>
          {words.submit}
        </button>
      </form>
    </section>
  );
}

interface PartProps {
  readonly draft: TokenDraft;
  readonly set: (change: Partial<TokenDraft>) => void;
}

function ModelChoices({
  models,
  draft,
  fault,
  set,
}: PartProps & { models: readonly string[]; fault: string | undefined }): VNode {
  const options = [{ value: EVERY, name: words.allModels }, ...models.map((name) => ({ value: name, name }))];
  const isEvery = draft.models.includes(EVERY);
  return (
    <ChoicesField
      legend={words.models}
      options={isEvery ? options.slice(0, 1) : options}
      chosen={isEvery ? [EVERY] : draft.models}
      fault={fault}
      onChange={(chosen) => set({ models: chosen })}
    />
  );
}

function MoneyAndRights({
  draft,
  currency,
  fault,
  set,
}: PartProps & { currency: string; fault: ApiError | undefined }): VNode {
  const field = (name: 'limit' | 'expires' | 'label') => (value: string) => set({ [name]: value });
  return (
    <>
      <div class="filters">
        <TextField
          label={words.limit}
          value={draft.limit}
          onInput={field('limit')}
          hint={words.limitHint(currency)}
          fault={findFieldFault(fault, 'limit')}
        />
        <TextField
          label={words.expires}
          type="datetime-local"
          value={draft.expires}
          onInput={field('expires')}
          hint={words.expiresHint}
          fault={findFieldFault(fault, 'expiresAt')}
        />
        <TextField
          label={words.label}
          value={draft.label}
          onInput={field('label')}
          hint={words.labelHint}
          fault={findFieldFault(fault, 'label')}
          charactersMax={TASK_FILTERS.label.most}
        />
        {(['webhooks', 'tokens'] as const).map((name) => (
          <SelectField
            key={name}
            label={words[name]}
            value={draft[name]}
            options={RIGHTS}
            fault={findFieldFault(fault, name)}
            onChange={(value) => set({ [name]: value })}
          />
        ))}
        <QueueFields
          queue={draft.queue}
          findFault={(name) => findFieldFault(fault, name)}
          onChange={(queue) => set({ queue })}
        />
      </div>
      <CountFields draft={draft} fault={fault} set={set} />
    </>
  );
}

function CountFields({ draft, fault, set }: PartProps & { fault: ApiError | undefined }): VNode {
  return (
    <details open={COUNTS.some((name) => findFieldFault(fault, name) !== undefined)}>
      <summary>{words.more}</summary>
      <p class="quiet small">{words.moreHint}</p>
      <div class="filters">
        {COUNTS.map((name) => (
          <TextField
            key={name}
            label={words[name]}
            type="number"
            min={1}
            value={draft.counts[name] ?? ''}
            fault={findFieldFault(fault, name)}
            onInput={(value) => set({ counts: { ...draft.counts, [name]: value } })}
          />
        ))}
      </div>
    </details>
  );
}

const FIELDS: readonly string[] = [
  'name',
  'models',
  'limit',
  'expiresAt',
  'webhooks',
  'tokens',
  'wait',
  'class',
  'label',
  ...COUNTS,
];

/** Reports whether a refusal is told under its field. */
function isPlaced(fault: ApiError | undefined): boolean {
  return FIELDS.includes(fault?.field?.replace(/\[.*$/, '') ?? '');
}

function findFieldFault(fault: ApiError | undefined, name: string): string | undefined {
  return fault?.field?.replace(/\[.*$/, '') === name ? fault.message : undefined;
}

/** A new token as its form begins. */
export const EMPTY_TOKEN = {
  name: '',
  models: [] as readonly string[],
  limit: '',
  /** A local time, as the field writes it. */
  expires: '',
  webhooks: 'none' as Right,
  tokens: 'none' as Right,
  queue: DEFAULT_QUEUE,
  label: '',
  counts: {} as Readonly<Partial<Record<(typeof COUNTS)[number], string>>>,
};

type TokenDraft = Readonly<typeof EMPTY_TOKEN>;

/** The body of the create. What is empty is left out. */
export function toNewToken({ name, models, limit, expires, queue, label, counts, ...rights }: TokenDraft): NewToken {
  const set = COUNTS.flatMap((field) => {
    const text = counts[field]?.trim() ?? '';
    return text === '' ? [] : [[field, Number(text)]];
  });
  return {
    name: name.trim(),
    models: models.includes(EVERY) ? [EVERY] : models,
    ...(limit.trim() === '' ? {} : { limit: limit.trim() }),
    ...(expires === '' ? {} : { expiresAt: new Date(expires).getTime() }),
    ...rights,
    ...queue,
    ...(label.trim() === '' ? {} : { label: label.trim() }),
    ...(Object.fromEntries(set) as Pick<NewToken, (typeof COUNTS)[number]>),
  };
}
