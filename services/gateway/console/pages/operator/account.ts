import type { AccountView as Answer } from '../../api/operator-accounts.ts';
import { useView } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { DataTable } from '../../parts/data-table.ts';
import type { Column } from '../../parts/data-table.ts';
import { Loaded } from '../../parts/loaded.ts';
import { At } from '../../parts/time.ts';
import { ActList } from './parts/act-list.ts';
import { AmountText } from './parts/amount-text.ts';
import { CreditForm } from './parts/credit-form.ts';
import { Statement } from './parts/statement.ts';
import { TokenSection } from './parts/token-section.ts';
import { operatorWords } from './operator-words.ts';

const words = operatorWords.accounts;

type Credit = Answer['credits'][number];

const CREDITS: readonly Column<Credit>[] = [
  { name: words.at, cell: ({ at }) => html`<${At} at=${at} />` },
  { name: words.amountName, isNumber: true, cell: ({ amount }) => html`<${AmountText} money=${amount} />` },
  { name: words.reason, cell: ({ reason }) => reason },
  { name: words.who, cell: ({ actor }) => actor },
];

export function page({ params, query }: PageProps): VNode {
  const id = params['accountId'] ?? '';
  const view = useView<Answer>(`/accounts/${encodeURIComponent(id)}?${query.toString()}`);
  return html`<h1>${words.account} <span class="id">${id}</span></h1>
    <${Loaded} view=${view}>
      ${(answer: Answer) => html`<${AccountView} view=${answer} query=${query} onChanged=${view.refresh} />`}
    <//>`;
}

export interface AccountViewProps {
  readonly view: Answer;
  readonly query: URLSearchParams;
  readonly onChanged: () => void;
}

export function AccountView({ view, query, onChanged }: AccountViewProps): VNode {
  const { account, tokens, credits, usage, acts, canChange } = view;
  const figures = [
    { name: words.free, hint: words.freeHint, money: account.free },
    { name: words.balance, hint: words.balanceHint, money: account.balance },
    { name: words.held, hint: words.heldHint, money: account.held },
  ];
  return html`
    <div class="cards">
      ${figures.map(
        ({ name, hint, money }) =>
          html`<section class="card" key=${name}>
            <h2>${name}</h2>
            <p class="figure"><${AmountText} money=${money} /></p>
            <p class="small quiet">${hint}</p>
          </section>`,
      )}
    </div>
    <p class="account-links">
      <a href=${`/console/tasks?account=${encodeURIComponent(account.id)}`}>${words.itsTasks}</a>
      <a href=${`/console/jobs?account=${encodeURIComponent(account.id)}`}>${words.itsJobs}</a>
      <span class="quiet">${words.createdAt} <${At} at=${account.createdAt} /></span>
    </p>
    ${canChange ? null : html`<p class="quiet" id="may-not-change">${operatorWords.needsRole('treasurer', words.needed)}</p>`}
    <${TokenSection} account=${account} tokens=${tokens} canChange=${canChange} onChanged=${onChanged} />
    <h2>${words.credit}</h2>
    <${CreditForm} account=${account} canChange=${canChange} onCredited=${onChanged} />
    <h2>${words.credits}</h2>
    <${DataTable}
      caption=${words.credits}
      columns=${CREDITS}
      rows=${credits}
      keyOf=${({ at, amount, reason }: Credit) => `${at} ${amount.amount} ${reason}`}
      empty=${words.noCredits}
    />
    <${Statement} usage=${usage} path=${`/console/accounts/${encodeURIComponent(account.id)}`} query=${query} />
    <${ActList} acts=${acts} title=${words.acts} />
  `;
}
