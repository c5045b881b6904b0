import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { AccountRow, AccountView as Answer, CreditRequest } from '../../api/operator-accounts.ts';
import type { PageProps } from '../../frame.tsx';
import { newRequestKey } from '../../state/api.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { formatDecimal, parseNanos, moneyText, AmountText } from '../../parts/number-text.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Stats } from '../../parts/stats.tsx';
import type { Stat } from '../../parts/stats.tsx';
import { At } from '../../parts/time.tsx';
import { announce } from '../../state/announce.ts';
import { useAct } from '../../state/use-act.ts';
import { toCall, useCalls } from '../../state/calls.ts';
import { useView } from '../../state/use-view.ts';
import { operatorWords } from './operator-words.ts';
import { booksWords } from './books-words.ts';
import { ActList } from './parts/act-list.tsx';
import type { Act } from './parts/acts.ts';
import { ReasonField } from './parts/reason-field.tsx';
import { Statement } from './parts/statement.tsx';
import { TokenSection } from './parts/token-section.tsx';

/** Maximum characters of a reason that the books keep. */
const REASON_MAX = 256;
const ACTS_SHOWN = 50;
const empty = (): CreditDraft => ({ amount: '', reason: '', requestId: newRequestKey() });

const words = booksWords.accounts;

type Credit = Answer['credits'][number];

const CREDITS: readonly Column<Credit>[] = [
  { name: words.at, cell: ({ at }) => <At at={at} /> },
  { name: words.amountName, isNumber: true, cell: ({ amount }) => <AmountText money={amount} /> },
  { name: words.reason, cell: ({ reason }) => reason },
  { name: words.who, cell: ({ actor }) => actor },
];

export function page({ params, query }: PageProps): VNode {
  const id = params['accountId'] ?? '';
  const view = useView<Answer>(`/accounts/${encodeURIComponent(id)}?${query.toString()}`);
  const records = useCalls({ acts: toCall('billing.AccountService/ListActs', { subject: id, limit: ACTS_SHOWN }) });
  const onChanged = (): void => {
    view.refresh();
    records.refresh();
  };
  return (
    <>
      <PageTitle
        back={{ href: '/console/accounts', name: words.title }}
        title={
          <>
            {words.account} <span class="id">{id}</span>
          </>
        }
      />
      <Loaded view={view}>
        {(answer) => (
          <AccountView view={answer} acts={records.data?.acts.acts ?? []} query={query} onChanged={onChanged} />
        )}
      </Loaded>
    </>
  );
}

export interface AccountViewProps {
  readonly view: Answer;
  readonly acts: readonly Act[];
  readonly query: URLSearchParams;
  readonly onChanged: () => void;
}

export function AccountView({ view, acts, query, onChanged }: AccountViewProps): VNode {
  const { account, tokens, credits, usage, canChange } = view;
  const stats: readonly Stat[] = [
    { name: words.free, note: words.freeHint, value: <AmountText money={account.free} /> },
    { name: words.balance, note: words.balanceHint, value: <AmountText money={account.balance} /> },
    { name: words.held, note: words.heldHint, value: <AmountText money={account.held} /> },
  ];
  return (
    <>
      <Stats stats={stats} />
      <p class="account-links">
        <a href={`/console/tasks?account=${encodeURIComponent(account.id)}`}>{words.itsTasks}</a>
        <a href={`/console/jobs?account=${encodeURIComponent(account.id)}`}>{words.itsJobs}</a>
        <a href={`/console/money/margins?split=account&key=${encodeURIComponent(account.id)}`}>{words.itsMargins}</a>
        <span class="quiet">
          {words.createdAt} <At at={account.createdAt} />
        </span>
      </p>
      {canChange ? null : (
        <p class="quiet" id="may-not-change">
          {operatorWords.needsRole('treasurer', words.needed)}
        </p>
      )}
      <TokenSection account={account} tokens={tokens} canChange={canChange} onChanged={onChanged} />
      <h2>{words.credit}</h2>
      <CreditForm account={account} canChange={canChange} onCredited={onChanged} />
      <h2>{words.credits}</h2>
      <DataTable
        caption={words.credits}
        columns={CREDITS}
        rows={credits}
        keyOf={({ at, amount, reason }) => `${at} ${amount.amount} ${reason}`}
        empty={words.noCredits}
      />
      <Statement usage={usage} path={`/console/accounts/${encodeURIComponent(account.id)}`} query={query} />
      <ActList acts={acts} title={words.acts} />
    </>
  );
}

interface CreditFormProps {
  readonly account: AccountRow;
  readonly canChange: boolean;
  readonly onCredited: () => void;
}

interface CreditDraft {
  readonly amount: string;
  readonly reason: string;
  /** Made once for a form, so sending it twice credits once. */
  readonly requestId: string;
}

/** Credits an account in two steps: what, and why; then the balance before and after. */
function CreditForm({ account, canChange, onCredited }: CreditFormProps): VNode {
  const [filled, setFilled] = useState(empty);
  const [isTried, setTried] = useState(false);
  const [isReviewed, setReviewed] = useState(false);
  const { currency } = account.balance;
  const isAmount = (parseNanos(normalizeAmount(filled.amount)) ?? 0n) !== 0n;
  const isGood = isAmount && filled.reason.trim() !== '';
  const review = (event: SubmitEvent): void => {
    event.preventDefault();
    setTried(true);
    setReviewed(isGood);
  };
  const done = (): void => {
    setFilled(empty);
    setTried(false);
    setReviewed(false);
    onCredited();
  };
  return (
    <>
      <form class="narrow" novalidate onSubmit={review}>
        <fieldset class="plain" disabled={!canChange} aria-describedby={canChange ? undefined : 'may-not-change'}>
          <label for="credit-amount">{words.amount(currency)}</label>
          <input
            id="credit-amount"
            inputmode="decimal"
            autocomplete="off"
            value={filled.amount}
            aria-invalid={isTried && !isAmount ? 'true' : undefined}
            aria-describedby="credit-amount-hint credit-amount-fault"
            onInput={({ currentTarget }) => {
              setFilled({ ...filled, amount: currentTarget.value });
            }}
          />
          <p id="credit-amount-hint" class="small quiet">
            {words.amountHint}
          </p>
          <p id="credit-amount-fault" class="fault">
            {isTried && !isAmount ? words.amountFault : ''}
          </p>
          <ReasonField
            value={filled.reason}
            charactersMax={REASON_MAX}
            onInput={(reason) => {
              setFilled({ ...filled, reason });
            }}
            fault={isTried && filled.reason.trim() === '' ? operatorWords.reason.missing : undefined}
          />
          <button type="submit">{words.review}</button>
        </fieldset>
      </form>
      {isReviewed ? (
        <SecondStep
          account={account}
          credit={{ ...filled, amount: normalizeAmount(filled.amount), reason: filled.reason.trim() }}
          onDone={done}
          onBack={() => {
            setReviewed(false);
          }}
        />
      ) : null}
    </>
  );
}

/** People write spaces and a plus. */
function normalizeAmount(text: string): string {
  return text.trim().replace(/^\+/, '');
}

interface SecondStepProps {
  readonly account: AccountRow;
  readonly credit: CreditRequest;
  readonly onDone: () => void;
  readonly onBack: () => void;
}

function SecondStep({ account, credit, onDone, onBack }: SecondStepProps): VNode {
  const { id, balance } = account;
  const isTaken = credit.amount.startsWith('-');
  const size = moneyText(credit.amount.replace('-', ''), balance.currency);
  const { act, isBusy, fault } = useAct(() => {
    announce(words.credited(moneyText(credit.amount, balance.currency), id));
    onDone();
  });
  return (
    <ConfirmDialog
      title={words.creditTitle(id)}
      confirm={isTaken ? words.confirmDebit(size) : words.confirmCredit(size)}
      cancel={operatorWords.dialog.back}
      isBusy={isBusy}
      isDanger={isTaken}
      onCancel={onBack}
      onConfirm={() => {
        act(`/accounts/${encodeURIComponent(id)}/credit`, credit);
      }}
    >
      <BeforeAndAfter account={account} amount={credit.amount} />
      <p>
        {operatorWords.reason.label}: {credit.reason}
      </p>
      <p class="fault" role="alert">
        {fault?.message ?? ''}
      </p>
    </ConfirmDialog>
  );
}

export function BeforeAndAfter({ account, amount }: { account: AccountRow; amount: string }): VNode {
  const { amount: before, currency } = account.balance;
  const after = formatDecimal((parseNanos(before) ?? 0n) + (parseNanos(amount) ?? 0n));
  return (
    <>
      <dl class="facts sums">
        <dt>{words.before}</dt>
        <dd>{moneyText(before, currency)}</dd>
        <dt>{words.change}</dt>
        <dd>{moneyText(amount, currency)}</dd>
        <dt>{words.after}</dt>
        <dd>
          <strong>{moneyText(after, currency)}</strong>
        </dd>
      </dl>
      {after.startsWith('-') ? <p class="note">{words.belowZero}</p> : null}
    </>
  );
}
