import { useState } from 'preact/hooks';
import type { AccountRow } from '../../../api/operator-accounts.ts';
import type { Token } from '../../../api/tokens.ts';
import { html } from '../../../html.ts';
import type { ComponentChildren, VNode } from '../../../html.ts';
import { DataTable } from '../../../parts/data-table.ts';
import type { Column } from '../../../parts/data-table.ts';
import { moneyText } from '../../../parts/money.ts';
import { Ago, At, useNow } from '../../../parts/time.ts';
import { operatorWords } from '../../../words.ts';
import { LimitsDialog } from './limits-dialog.ts';
import { MakeTokenDialog } from './make-token-dialog.ts';
import { RevokeDialog } from './revoke-dialog.ts';
import { labelOf } from './token-label.ts';

const words = operatorWords.tokens;
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
  const now = useNow();
  const close = (): void => {
    setOpen(undefined);
  };
  const dialog = { account, onClose: close, onChanged };
  return html`
    <h2>${words.title}</h2>
    <${DataTable}
      caption=${words.title}
      columns=${[...columnsAt(now), actsColumn(canChange, setOpen)]}
      rows=${tokens}
      keyOf=${({ id }: Token) => id}
      empty=${words.empty}
    />
    <div class="actions">
      <button
        type="button"
        disabled=${!canChange}
        aria-describedby=${canChange ? undefined : 'may-not-change'}
        onClick=${() => {
          setOpen({ step: 'make' });
        }}
      >
        ${words.make}
      </button>
    </div>
    ${open?.step === 'make' ? html`<${MakeTokenDialog} ...${dialog} />` : null}
    ${open?.step === 'revoke' ? html`<${RevokeDialog} ...${dialog} token=${open.token} />` : null}
    ${open?.step === 'limits' ? html`<${LimitsDialog} ...${dialog} token=${open.token} />` : null}
  `;
}

function columnsAt(now: number): readonly Column<Token>[] {
  return [
    {
      name: words.token,
      isHead: true,
      cell: ({ id, name }) => html`${name === '' ? null : html`${name}<br />`}<span class="id small">${id}</span>`,
    },
    { name: words.state, cell: (token) => stateOf(token, now) },
    { name: words.models, cell: ({ models }) => (models.includes('*') ? words.everyModel : models.join(', ')) },
    { name: words.spent, isNumber: true, cell: spentOf },
    { name: words.limits, cell: limitsOf },
    {
      name: words.rights,
      cell: ({ webhooks, tokens }) => html`${words.webhooks(webhooks)}<br />${words.tokens(tokens)}`,
    },
    {
      name: words.lastCharged,
      cell: ({ lastChargedAt }) => chargedOf(lastChargedAt, now),
    },
  ];
}

function actsColumn(canChange: boolean, open: (next: Open) => void): Column<Token> {
  const button = (token: Token, step: 'limits' | 'revoke', text: string): VNode =>
    html`<button
      type="button"
      class="quiet"
      disabled=${!canChange}
      aria-describedby=${canChange ? undefined : 'may-not-change'}
      onClick=${() => {
        open({ step, token });
      }}
    >
      ${text}<span class="spoken"> ${labelOf(token)}</span>
    </button>`;
  return {
    name: words.acts,
    cell: (token) =>
      token.revokedAt === undefined
        ? html`${button(token, 'limits', words.change)} ${button(token, 'revoke', words.revoke)}`
        : '–',
  };
}

function stateOf({ revokedAt, expiresAt }: Token, now: number): ComponentChildren {
  if (revokedAt !== undefined)
    return html`<span class="quiet"><span aria-hidden="true">✕</span> ${words.revoked}</span>${' '}
      <${Ago} at=${revokedAt} />`;
  if (expiresAt === undefined) return html`<span class="good"><span aria-hidden="true">●</span> ${words.live}</span>`;
  return expiresAt <= now
    ? html`<span class="quiet"><span aria-hidden="true">✕</span> ${words.expired}</span>${' '}
        <${Ago} at=${expiresAt} />`
    : html`<span class="good"><span aria-hidden="true">●</span> ${words.live}</span>${`, ${words.expires} `}<${At}
          at=${expiresAt}
        />`;
}

/** The books keep the hour of a charge. */
function chargedOf(hour: number | undefined, now: number): ComponentChildren {
  if (hour === undefined) return '–';
  return now - hour < HOUR_MS ? words.thisHour : html`<${Ago} at=${hour} />`;
}

function spentOf({ used, limit }: Token): string {
  const spent = moneyText(used.amount, used.currency);
  return limit === undefined ? spent : words.of(spent, moneyText(limit.amount, limit.currency));
}

function limitsOf({ limits }: Token): ComponentChildren {
  const names = Object.entries(words.counts) as [keyof Token['limits'], string][];
  const set = names.filter(([name]) => limits[name] !== undefined);
  if (set.length === 0) return '–';
  return set.map(([name, text]) => html`<div key=${name}>${text}: ${limits[name]}</div>`);
}
