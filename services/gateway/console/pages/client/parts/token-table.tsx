import type { ComponentChildren, VNode } from 'preact';
import type { Token } from '../../../api/tokens.ts';
import { serverNow } from '../../../state/api.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import type { Column } from '../../../parts/data-table.tsx';
import { describeQueue } from '../../../parts/queue-fields.tsx';
import { moneyText } from '../../../parts/number-text.tsx';
import { Ago, At } from '../../../parts/time.tsx';
import { tokensWords as words } from '../tokens-words.ts';
import { Badge } from '../../../parts/state-badge.tsx';
import { labelToken, orderTree, TokenPlace } from '../../../parts/token-tree.tsx';
import type { PlacedToken } from '../../../parts/token-tree.tsx';

const SHAPES = { live: '●', expired: '○', revoked: '✕' } as const;
const TONES = { live: 'good', expired: 'quiet', revoked: 'bad' } as const;

export interface TokenTableProps {
  readonly tokens: readonly Token[];
  /** Undefined if the visitor may not revoke. */
  readonly onRevoke: ((token: Token) => void) | undefined;
}

export function TokenTable({ tokens, onRevoke }: TokenTableProps): VNode {
  const columns: readonly Column<PlacedToken<Token>>[] = [
    { name: words.columns.name, isHead: true, cell: renderName },
    { name: words.columns.state, cell: ({ token }) => renderState(token) },
    {
      name: words.columns.models,
      cell: ({ token: { models } }) => (models.includes('*') ? words.everyModel : models.join(', ')),
    },
    { name: words.columns.spent, isNumber: true, cell: ({ token }) => describeSpending(token) },
    {
      name: words.columns.lastCharge,
      cell: ({ token: { lastChargedAt } }) => (lastChargedAt === undefined ? '–' : <Ago at={lastChargedAt} />),
    },
    {
      name: words.columns.expires,
      cell: ({ token: { expiresAt } }) => (expiresAt === undefined ? words.never : <At at={expiresAt} />),
    },
    { name: words.columns.limits, cell: ({ token }) => renderLimits(token) },
    { name: words.columns.rights, cell: ({ token }) => <span class="small">{describeRights(token)}</span> },
    ...(onRevoke === undefined
      ? []
      : [
          {
            name: words.columns.act,
            isBare: true,
            cell: ({ token }: PlacedToken<Token>) => revokeButton(token, onRevoke),
          },
        ]),
  ];
  return (
    <DataTable
      caption={words.caption}
      columns={columns}
      rows={orderTree(tokens)}
      keyOf={({ token }) => token.id}
      empty={words.none}
    />
  );
}

function renderName(placed: PlacedToken<Token>): VNode {
  const { name, id, hint, isOwn } = placed.token;
  return (
    <TokenPlace placed={placed}>
      <strong>{name === '' ? words.unnamed : name}</strong>
      <span class="id quiet">{id}</span>
      {hint === undefined ? null : <span class="small quiet">{words.keyEnds(hint)}</span>}
      {isOwn ? <span class="small">{words.own}</span> : null}
    </TokenPlace>
  );
}

function renderState(token: Token): VNode {
  const state = tokenState(token, serverNow());
  return (
    <Badge tone={TONES[state]} shape={SHAPES[state]}>
      {words.states[state]}
    </Badge>
  );
}

function describeSpending({ used, limit }: Token): string {
  const spent = moneyText(used.amount, used.currency);
  return limit === undefined ? spent : words.of(spent, moneyText(limit.amount, limit.currency));
}

function renderLimits({ limits, queue, label }: Token): ComponentChildren {
  const names = ['createsPerMinute', 'readsPerMinute', 'callsPerMinute', 'inFlight'] as const;
  const set = names.filter((name) => limits[name] !== undefined);
  const waits = describeQueue(queue);
  if (set.length === 0 && waits === '' && label === undefined) return '–';
  return (
    <>
      {set.map((name) => (
        <div key={name}>
          {words.make[name]}: {limits[name]}
        </div>
      ))}
      <div>{waits}</div>
      {label === undefined ? null : (
        <div>
          {words.make.label}: {label}
        </div>
      )}
    </>
  );
}

function describeRights({ webhooks, tokens }: Token): string {
  const rights = [words.rights.webhooks[webhooks], words.rights.tokens[tokens]].filter((right) => right !== '');
  return rights.length === 0 ? words.rights.none : rights.join(', ');
}

function revokeButton(token: Token, onRevoke: (token: Token) => void): VNode | null {
  if (token.revokedAt !== undefined || !token.canRevoke) return null;
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`${words.revoke.open} ${labelToken(token)}`}
      onClick={() => onRevoke(token)}
    >
      {words.revoke.open}
    </button>
  );
}

export type TokenState = 'live' | 'expired' | 'revoked';

export function tokenState({ revokedAt, expiresAt }: Pick<Token, 'revokedAt' | 'expiresAt'>, now: number): TokenState {
  if (revokedAt !== undefined) return 'revoked';
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'live';
}
