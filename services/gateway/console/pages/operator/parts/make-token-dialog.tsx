import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { RpcAnswer } from '../../../api/calls.ts';
import type { Right } from '../../../api/tokens.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { toEnumName } from '../../../parts/contract-values.ts';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { DEFAULT_QUEUE, QueueFields } from '../../../parts/queue-fields.tsx';
import { SelectField } from '../../../parts/select-field.tsx';
import { TextField } from '../../../parts/text-field.tsx';
import { FaultLine } from '../../../parts/loaded.tsx';
import { useRpc } from '../../../state/calls.ts';
import { booksWords } from '../books-words.ts';
import { operatorWords } from '../operator-words.ts';
import { LimitFields, readLimits, toLimitTexts, toWireQueue } from './limit-fields.tsx';
import type { LimitFaults, NewToken } from './limit-fields.tsx';
import type { TokenDialogProps } from './revoke-dialog.tsx';

const words = booksWords.tokens;
const RIGHTS = (Object.keys(words.right) as Right[]).map((value) => ({ value, name: words.right[value] }));

/** Makes a token, and then shows its key this once. */
export function MakeTokenDialog({ account, onClose, onChanged }: TokenDialogProps): VNode {
  const [form, setForm] = useState(NEW_TOKEN);
  const { act, isBusy, fault, answer } = useRpc('billing.AccountService/CreateToken', onChanged);
  if (answer !== undefined) return <MadeKeyDialog made={answer} onClose={onClose} />;
  const { token, faults } = readNewToken(form);
  return (
    <ConfirmDialog
      title={words.make}
      confirm={words.makeButton}
      cancel={operatorWords.dialog.cancel}
      isBusy={isBusy || token === undefined}
      onCancel={onClose}
      onConfirm={() => {
        if (token !== undefined) act({ accountId: account.id, ...token });
      }}
    >
      <NewTokenFields form={form} faults={faults} currency={account.currency} onChange={setForm} />
      <FaultLine text={fault?.message} />
    </ConfirmDialog>
  );
}

/** The key of a new token. It is kept nowhere, so this is the one time that it can be read. */
function MadeKeyDialog({
  made: { token, key },
  onClose,
}: {
  made: RpcAnswer<'billing.AccountService/CreateToken'>;
  onClose: () => void;
}): VNode {
  return (
    <ConfirmDialog title={words.made} confirm={words.close} onCancel={onClose} onConfirm={onClose}>
      <p>{token?.name}</p>
      <p class="note">{words.once}</p>
      <p>
        <code class="id key">{key}</code> <CopyButton text={key} what={words.key} />
      </p>
    </ConfirmDialog>
  );
}

/** A new token as its form begins. */
export const NEW_TOKEN = {
  name: '',
  /** One on each line. */
  models: '*',
  /** A date, or empty for a token that does not expire. */
  expires: '',
  webhooks: 'write' as Right,
  tokens: 'none' as Right,
  queue: DEFAULT_QUEUE,
  limits: toLimitTexts({}),
};

type NewTokenForm = Readonly<typeof NEW_TOKEN>;

/** The token that a form describes; undefined if it is not complete or its limits have faults. */
export function readNewToken({ name, models, expires, webhooks, tokens, queue, limits }: NewTokenForm): {
  readonly token: NewToken | undefined;
  readonly faults: LimitFaults;
} {
  const { values, faults } = readLimits(limits);
  const named = parseModels(models);
  const expiresAt = parseExpiry(expires);
  const isWhole = name.trim() !== '' && named.length > 0 && Object.keys(faults).length === 0;
  const token = {
    ...{ name: name.trim(), models: [...named], ...values },
    webhooks: toEnumName('WEBHOOK_RIGHT_', webhooks),
    tokens: toEnumName('TOKEN_RIGHT_', tokens),
    queue: toWireQueue(queue),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  return { token: isWhole ? token : undefined, faults };
}

/** The models that a text names, one on each line or between commas, each once. */
export function parseModels(text: string): readonly string[] {
  const models = text.split(/[\n,]/).map((model) => model.trim());
  return [...new Set(models.filter((model) => model !== ''))];
}

/** The end of a day in UTC; undefined if the text is no date. */
function parseExpiry(date: string): string | undefined {
  const end = `${date}T23:59:59.999Z`;
  return Number.isNaN(Date.parse(end)) ? undefined : end;
}

interface NewTokenFieldsProps {
  readonly form: NewTokenForm;
  readonly faults: LimitFaults;
  readonly currency: string;
  readonly onChange: (form: NewTokenForm) => void;
}

/** Shows the fields for the name, the limits and the rights of a new token. */
function NewTokenFields({ form, faults, currency, onChange }: NewTokenFieldsProps): VNode {
  const setter =
    <Name extends keyof NewTokenForm>(name: Name) =>
    (value: NewTokenForm[Name]): void =>
      onChange({ ...form, [name]: value });
  return (
    <>
      <TextField
        label={words.name}
        hint={words.nameHint}
        value={form.name}
        autocomplete="off"
        isRequired
        onInput={setter('name')}
      />
      <TextField
        label={words.models}
        hint={words.modelsHint}
        value={form.models}
        rows={3}
        autocomplete="off"
        isRequired
        onInput={setter('models')}
      />
      <LimitFields texts={form.limits} faults={faults} currency={currency} onChange={setter('limits')} />
      <TextField
        label={words.expiresAt}
        hint={words.expiresHint}
        value={form.expires}
        type="date"
        autocomplete="off"
        onInput={setter('expires')}
      />
      {(['webhooks', 'tokens'] as const).map((name) => (
        <SelectField
          key={name}
          label={words[`${name}Right`]}
          value={form[name]}
          options={RIGHTS}
          onChange={setter(name)}
        />
      ))}
      <QueueFields queue={form.queue} onChange={setter('queue')} />
    </>
  );
}
