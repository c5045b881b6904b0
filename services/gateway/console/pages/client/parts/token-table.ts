import type { Token } from '../../../api/tokens.ts';
import { serverNow } from '../../../state/server-clock.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { DataTable } from '../../../parts/data-table.ts';
import type { Column } from '../../../parts/data-table.ts';
import { moneyText } from '../../../parts/money.ts';
import { Ago, At } from '../../../parts/time.ts';
import { tokensWords as words } from '../../../words.ts';
import { tokenState } from './token-state.ts';

const SHAPES = { live: '●', expired: '○', revoked: '✕' } as const;
const STYLES = { live: 'good', expired: 'quiet', revoked: 'bad' } as const;

export interface TokenTableProps {
  readonly tokens: readonly Token[];
  /** Undefined: the visitor may not revoke. */
  readonly onRevoke: ((token: Token) => void) | undefined;
}

export function TokenTable({ tokens, onRevoke }: TokenTableProps): VNode {
  const columns: readonly Column<Token>[] = [
    { name: words.columns.name, isHead: true, cell: nameOf },
    { name: words.columns.state, cell: stateOf },
    { name: words.columns.models, cell: ({ models }) => (models.includes('*') ? words.everyModel : models.join(', ')) },
    { name: words.columns.spent, isNumber: true, cell: spentOf },
    {
      name: words.columns.lastCharge,
      cell: ({ lastChargedAt }) => (lastChargedAt === undefined ? '–' : html`<${Ago} at=${lastChargedAt} />`),
    },
    {
      name: words.columns.expires,
      cell: ({ expiresAt }) => (expiresAt === undefined ? words.never : html`<${At} at=${expiresAt} />`),
    },
    { name: words.columns.rights, cell: rightsOf },
    ...(onRevoke === undefined
      ? []
      : [{ name: words.columns.act, cell: (token: Token) => revokeButton(token, onRevoke) }]),
  ];
  return html`<${DataTable}
    caption=${words.caption}
    columns=${columns}
    rows=${tokens}
    keyOf=${({ id }: Token) => id}
    empty=${words.none}
  />`;
}

function nameOf({ name, id, isOwn }: Token): VNode {
  return html`<span class="lines"
    ><strong>${name === '' ? words.unnamed : name}</strong>
    <span class="id quiet">${id}</span>
    ${isOwn ? html`<span class="small">${words.own}</span>` : null}</span
  >`;
}

function stateOf(token: Token): VNode {
  const state = tokenState(token, serverNow());
  return html`<span class=${`state ${STYLES[state]}`}
    ><span aria-hidden="true">${SHAPES[state]}</span> ${words.states[state]}</span
  >`;
}

function spentOf({ used, limit }: Token): string {
  const spent = moneyText(used.amount, used.currency);
  return limit === undefined ? spent : words.of(spent, moneyText(limit.amount, limit.currency));
}

function rightsOf({ webhooks, tokens }: Token): string {
  const rights = [words.rights.webhooks[webhooks], words.rights.tokens[tokens]].filter((right) => right !== '');
  return rights.length === 0 ? words.rights.none : rights.join(', ');
}

function revokeButton(token: Token, onRevoke: (token: Token) => void): VNode | null {
  if (token.revokedAt !== undefined) return null;
  return html`<button
    type="button"
    class="quiet"
    aria-label=${`${words.revoke.open} ${token.name === '' ? token.id : token.name}`}
    onClick=${() => {
      onRevoke(token);
    }}
  >
    ${words.revoke.open}
  </button>`;
}
