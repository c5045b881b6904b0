import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { TokenQueue } from '../../../api/tokens.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { DataTable } from '../../../parts/data-table.tsx';
import type { Column } from '../../../parts/data-table.tsx';
import { DEFAULT_QUEUE, QueueFields, describeQueue } from '../../../parts/queue-fields.tsx';
import { formatNanos, readTime, readWord, requireValue } from '../../../parts/contract-values.ts';
import { Ago, At, useNow } from '../../../parts/time.tsx';
import { Badge } from '../../../parts/state-badge.tsx';
import { labelToken, countValidMade, orderTree, TokenPlace } from '../../../parts/token-tree.tsx';
import type { PlacedToken } from '../../../parts/token-tree.tsx';
import { announce } from '../../../state/announce.ts';
import { useRpc } from '../../../state/calls.ts';
import { words as commonWords } from '../../../words.ts';
import { operatorWords } from '../operator-words.ts';
import { booksWords } from '../books-words.ts';
import { LimitFields, COUNT_NAMES, readLimits, toLimitTexts, toWireQueue } from './limit-fields.tsx';
import { loadLater } from '../../../parts/load-later.tsx';
import { ReasonField } from './reason-field.tsx';
import type { RevokeDialogProps, TokenDialogProps } from './revoke-dialog.tsx';
import type { Account, Token } from './limit-fields.tsx';

const words = booksWords.tokens;
const RevokeDialog = loadLater<RevokeDialogProps>(() =>
  import('./revoke-dialog.tsx').then((module) => module.RevokeDialog),
);
const MakeTokenDialog = loadLater<TokenDialogProps>(() =>
  import('./make-token-dialog.tsx').then((module) => module.MakeTokenDialog),
);
const HOUR_MS = 3_600_000;

export interface TokenSectionProps {
  readonly account: Account;
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
  const close = (): void => setOpen(undefined);
  const dialog = { account, onClose: close, onChanged };
  return (
    <>
      <h2>{words.title}</h2>
      <p role="status">{notice}</p>
      <DataTable
        caption={words.title}
        columns={[...columnsAt(now, account.currency), actsColumn(canChange, setOpen)]}
        rows={orderTree(tokens)}
        keyOf={({ token }) => token.id}
        empty={words.empty}
      />
      <div class="actions">
        <button
          type="button"
          disabled={!canChange}
          aria-describedby={canChange ? undefined : 'may-not-change'}
          onClick={() => setOpen({ step: 'make' })}
        >
          {words.make}
        </button>
      </div>
      {open?.step === 'make' ? <MakeTokenDialog {...dialog} /> : null}
      {open?.step === 'revoke' ? (
        <RevokeDialog
          {...dialog}
          token={open.token}
          madeCount={countValidMade(tokens, open.token.id, (made) => isValidAt(made, now))}
          onRevoked={({ token, madeRevoked }) =>
            setNotice(commonWords.madeTokens.revoked(labelToken(requireValue(token)), madeRevoked))
          }
        />
      ) : null}
      {open?.step === 'limits' ? <LimitsDialog {...dialog} token={open.token} /> : null}
    </>
  );
}

function isValidAt({ revokedAt, expiresAt }: Token, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || readTime(expiresAt) > now);
}

function columnsAt(now: number, currency: string): readonly Column<PlacedToken<Token>>[] {
  return [
    {
      name: words.token,
      isHead: true,
      cell: (placed) => {
        const { id, name, hint } = placed.token;
        return (
          <TokenPlace placed={placed}>
            {name === '' ? null : <strong>{name}</strong>} <span class="id quiet">{id}</span>
            {hint === '' ? null : <span class="small quiet">{words.keyEnds(hint)}</span>}
          </TokenPlace>
        );
      },
    },
    { name: words.state, cell: ({ token }) => renderState(token, now) },
    {
      name: words.models,
      cell: ({ token: { models } }) => (models.includes('*') ? words.everyModel : models.join(', ')),
    },
    { name: words.spent, isNumber: true, cell: ({ token }) => describeSpending(token, currency) },
    { name: words.limits, cell: ({ token }) => renderLimits(token) },
    {
      name: words.rights,
      cell: ({ token: { webhooks, tokens } }) => (
        <span class="lines small">
          <span>{words.webhooks(readWord('WEBHOOK_RIGHT_', webhooks))}</span>
          <span>{words.tokens(readWord('TOKEN_RIGHT_', tokens))}</span>
        </span>
      ),
    },
    {
      name: words.lastCharged,
      cell: ({ token: { lastChargedAt } }) => renderLastCharge(readTime(lastChargedAt), now),
    },
  ];
}

function actsColumn(canChange: boolean, open: (next: Open) => void): Column<PlacedToken<Token>> {
  const button = (token: Token, step: 'limits' | 'revoke', text: string): VNode => (
    <button
      type="button"
      class="quiet"
      disabled={!canChange}
      aria-describedby={canChange ? undefined : 'may-not-change'}
      onClick={() => open({ step, token })}
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

function renderState(token: Token, now: number): ComponentChildren {
  const [revokedAt, expiresAt] = [readTime(token.revokedAt), readTime(token.expiresAt)];
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

function describeSpending({ usedNanos, limitNanos }: Token, currency: string): string {
  const spent = formatNanos(usedNanos, currency);
  return limitNanos === undefined ? spent : words.of(spent, formatNanos(limitNanos, currency));
}

function renderLimits({ limits, queue }: Token): ComponentChildren {
  // zero is the configured limit
  const set = COUNT_NAMES.filter((name) => (limits?.[name] ?? 0) > 0);
  const waits = describeQueue(readQueue(queue));
  if (set.length === 0 && waits === '') return '–';
  return (
    <>
      {set.map((name) => (
        <div key={name}>
          {words.counts[name]}: {limits?.[name]}
        </div>
      ))}
      <div>{waits}</div>
    </>
  );
}

function readQueue(queue: Token['queue']): TokenQueue {
  if (queue === undefined) return DEFAULT_QUEUE;
  return { wait: readWord('TOKEN_WAIT_', queue.wait), class: readWord('TOKEN_CLASS_', queue.class) };
}

/** Replaces the limits of a token. */
function LimitsDialog({
  account: { currency },
  token,
  onClose,
  onChanged,
}: TokenDialogProps & { token: Token }): VNode {
  const [texts, setTexts] = useState(() => toLimitTexts(token));
  const [queue, setQueue] = useState(() => readQueue(token.queue));
  const [reason, setReason] = useState('');
  const [isTried, setTried] = useState(false);
  const isReasonMissing = reason.trim() === '';
  const { act, isBusy, fault } = useRpc('billing.AccountService/UpdateTokenLimits', () => {
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
        setTried(true);
        if (!isReasonMissing) act({ id: token.id, ...values, queue: toWireQueue(queue), reason: reason.trim() });
      }}
    >
      <p>{words.changeText}</p>
      <LimitFields texts={texts} faults={faults} currency={currency} onChange={setTexts} />
      <QueueFields queue={queue} onChange={setQueue} />
      <ReasonField
        value={reason}
        onInput={setReason}
        fault={isTried && isReasonMissing ? operatorWords.reason.missing : fault?.message}
      />
    </ConfirmDialog>
  );
}
