import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { AccountRow } from '../../../api/operator-accounts.ts';
import type { MadeToken, Token } from '../../../api/tokens.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { DataTable } from '../../../parts/data-table.tsx';
import type { Column } from '../../../parts/data-table.tsx';
import { QueueFields, describeQueue } from '../../../parts/queue-fields.tsx';
import { moneyText } from '../../../parts/number-text.tsx';
import { Ago, At, useNow } from '../../../parts/time.tsx';
import { Badge } from '../../../parts/state-badge.tsx';
import { labelToken, countValidMade, orderTree, TokenPlace } from '../../../parts/token-tree.tsx';
import type { PlacedToken } from '../../../parts/token-tree.tsx';
import { announce } from '../../../state/announce.ts';
import { useAct } from '../../../state/use-act.ts';
import { words as commonWords } from '../../../words.ts';
import { operatorWords } from '../operator-words.ts';
import { booksWords } from '../books-words.ts';
import { LimitFields } from './limit-fields.tsx';
import { loadLater } from '../../../parts/load-later.tsx';
import type { NewTokenFieldsProps } from './new-token-fields.tsx';
import { NEW_TOKEN, readNewToken } from './new-token.ts';
import { ReasonField } from './reason-field.tsx';
import type { RevokeDialogProps, TokenDialogProps } from './revoke-dialog.tsx';
import { readLimits, toLimitTexts } from './token-limits.ts';

const words = booksWords.tokens;
const RevokeDialog = loadLater<RevokeDialogProps>(() =>
  import('./revoke-dialog.tsx').then((module) => module.RevokeDialog),
);
const NewTokenFields = loadLater<NewTokenFieldsProps>(() =>
  import('./new-token-fields.tsx').then((module) => module.NewTokenFields),
);
const HOUR_MS = 3_600_000;

export interface TokenSectionProps {
  readonly account: AccountRow;
  readonly tokens: readonly Token[];
  readonly canChange: boolean;
  readonly onChanged: () => void;
}

type Open =
  | { readonly step: 'make' }
  | { readonly step: 'revoke'; readonly token: Token }
  | { readonly step: 'limits'; readonly token: Token };

/** The tokens of an account, and what a treasurer does with them. */
export function TokenSection({ account, tokens, canChange, onChanged }: TokenSectionProps): VNode {
  const [open, setOpen] = useState<Open | undefined>(undefined);
  const [notice, setNotice] = useState('');
  const now = useNow();
  const close = (): void => {
    setOpen(undefined);
  };
  const dialog = { account, onClose: close, onChanged };
  return (
    <>
      <h2>{words.title}</h2>
      <p role="status">{notice}</p>
      <DataTable
        caption={words.title}
        columns={[...columnsAt(now), actsColumn(canChange, setOpen)]}
        rows={orderTree(tokens)}
        keyOf={({ token }) => token.id}
        empty={words.empty}
      />
      <div class="actions">
        <button
          type="button"
          disabled={!canChange}
          aria-describedby={canChange ? undefined : 'may-not-change'}
          onClick={() => {
            setOpen({ step: 'make' });
          }}
        >
          {words.make}
        </button>
      </div>
      {open?.step === 'make' ? <MakeTokenDialog {...dialog} /> : null}
      {open?.step === 'revoke' ? (
        <RevokeDialog
          {...dialog}
          token={open.token}
          madeCount={countValidMade(tokens, open.token.id, now)}
          onRevoked={({ token, madeRevoked }) => {
            setNotice(commonWords.madeTokens.revoked(labelToken(token), madeRevoked));
          }}
        />
      ) : null}
      {open?.step === 'limits' ? <LimitsDialog {...dialog} token={open.token} /> : null}
    </>
  );
}

function columnsAt(now: number): readonly Column<PlacedToken>[] {
  return [
    {
      name: words.token,
      isHead: true,
      cell: (placed) => {
        const { id, name, hint } = placed.token;
        return (
          <TokenPlace placed={placed}>
            {name === '' ? null : <strong>{name}</strong>} <span class="id quiet">{id}</span>
            {hint === undefined ? null : <span class="small quiet">{words.keyEnds(hint)}</span>}
          </TokenPlace>
        );
      },
    },
    { name: words.state, cell: ({ token }) => renderState(token, now) },
    {
      name: words.models,
      cell: ({ token: { models } }) => (models.includes('*') ? words.everyModel : models.join(', ')),
    },
    { name: words.spent, isNumber: true, cell: ({ token }) => describeSpending(token) },
    { name: words.limits, cell: ({ token }) => renderLimits(token) },
    {
      name: words.rights,
      cell: ({ token: { webhooks, tokens } }) => (
        <span class="lines small">
          <span>{words.webhooks(webhooks)}</span>
          <span>{words.tokens(tokens)}</span>
        </span>
      ),
    },
    {
      name: words.lastCharged,
      cell: ({ token: { lastChargedAt } }) => renderLastCharge(lastChargedAt, now),
    },
  ];
}

function actsColumn(canChange: boolean, open: (next: Open) => void): Column<PlacedToken> {
  const button = (token: Token, step: 'limits' | 'revoke', text: string): VNode => (
    <button
      type="button"
      class="quiet"
      disabled={!canChange}
      aria-describedby={canChange ? undefined : 'may-not-change'}
      onClick={() => {
        open({ step, token });
      }}
    >
      {text}
      <span class="spoken"> {labelToken(token)}</span>
    </button>
  );
  return {
    name: words.acts,
    isBare: true,
    cell: ({ token }) =>
      token.revokedAt === undefined ? (
        <span class="row-acts">
          {button(token, 'limits', words.change)}
          {button(token, 'revoke', words.revoke)}
        </span>
      ) : (
        '–'
      ),
  };
}

function renderState({ revokedAt, expiresAt }: Token, now: number): ComponentChildren {
  if (revokedAt !== undefined)
    return (
      <span class="lines">
        <Badge tone="quiet" shape="✕">
          {words.revoked}
        </Badge>
        <span class="small quiet">
          <Ago at={revokedAt} />
        </span>
      </span>
    );
  if (expiresAt === undefined)
    return (
      <Badge tone="good" shape="●">
        {words.live}
      </Badge>
    );
  return expiresAt <= now ? (
    <span class="lines">
      <Badge tone="quiet" shape="✕">
        {words.expired}
      </Badge>
      <span class="small quiet">
        <Ago at={expiresAt} />
      </span>
    </span>
  ) : (
    <span class="lines">
      <Badge tone="good" shape="●">
        {words.live}
      </Badge>
      <span class="small quiet">
        {words.expires} <At at={expiresAt} />
      </span>
    </span>
  );
}

/** The books keep the hour of a charge. */
function renderLastCharge(hour: number | undefined, now: number): ComponentChildren {
  if (hour === undefined) return '–';
  return now - hour < HOUR_MS ? words.thisHour : <Ago at={hour} />;
}

function describeSpending({ used, limit }: Token): string {
  const spent = moneyText(used.amount, used.currency);
  return limit === undefined ? spent : words.of(spent, moneyText(limit.amount, limit.currency));
}

function renderLimits({ limits, queue }: Token): ComponentChildren {
  const names = Object.entries(words.counts) as [keyof Token['limits'], string][];
  const set = names.filter(([name]) => limits[name] !== undefined);
  const waits = describeQueue(queue);
  if (set.length === 0 && waits === '') return '–';
  return (
    <>
      {set.map(([name, text]) => (
        <div key={name}>
          {text}: {limits[name]}
        </div>
      ))}
      <div>{waits}</div>
    </>
  );
}

/** Replaces the limits of a token. */
function LimitsDialog({ account, token, onClose, onChanged }: TokenDialogProps & { token: Token }): VNode {
  const [texts, setTexts] = useState(() => toLimitTexts(token));
  const [queue, setQueue] = useState(token.queue);
  const [reason, setReason] = useState('');
  const { act, isBusy, fault } = useAct(() => {
    announce(words.didChange(labelToken(token)));
    onChanged();
    onClose();
  });
  const { values, faults } = readLimits(texts);
  return (
    <ConfirmDialog
      title={words.changeTitle(labelToken(token))}
      confirm={words.save}
      cancel={operatorWords.dialog.cancel}
      isBusy={isBusy || Object.keys(faults).length > 0}
      onCancel={onClose}
      onConfirm={() => {
        act(`/accounts/${encodeURIComponent(account.id)}/tokens/${encodeURIComponent(token.id)}/limits`, {
          ...values,
          ...queue,
          reason: reason.trim(),
        });
      }}
    >
      <p>{words.changeText}</p>
      <LimitFields texts={texts} faults={faults} currency={account.balance.currency} onChange={setTexts} />
      <QueueFields queue={queue} onChange={setQueue} />
      <ReasonField value={reason} onInput={setReason} fault={fault?.message} />
    </ConfirmDialog>
  );
}

/** Makes a token, and then shows its key this once. */
function MakeTokenDialog({ account, onClose, onChanged }: TokenDialogProps): VNode {
  const [form, setForm] = useState(NEW_TOKEN);
  const { act, isBusy, fault, answer } = useAct<MadeToken>(onChanged);
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
        if (token !== undefined) act(`/accounts/${encodeURIComponent(account.id)}/tokens`, token);
      }}
    >
      <NewTokenFields form={form} faults={faults} currency={account.balance.currency} onChange={setForm} />
      <p class="fault" role="alert">
        {fault?.message ?? ''}
      </p>
    </ConfirmDialog>
  );
}

/** The key of a new token. It is kept nowhere, so this is the one time that it can be read. */
function MadeKeyDialog({ made: { token, key }, onClose }: { made: MadeToken; onClose: () => void }): VNode {
  return (
    <ConfirmDialog title={words.made} confirm={words.close} onCancel={onClose} onConfirm={onClose}>
      <p>{token.name}</p>
      <p class="note">{words.once}</p>
      <p>
        <code class="id key">{key}</code> <CopyButton text={key} what={words.key} />
      </p>
    </ConfirmDialog>
  );
}
