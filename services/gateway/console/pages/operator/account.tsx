import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { RpcAnswer } from '../../api/calls.ts';
import type { PageProps } from '../../frame.tsx';
import { newRequestKey, serverNow } from '../../state/api.ts';
import { formatNanos, readTime, requireValue, toEnumName, toMoney } from '../../parts/contract-values.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { DataTable, Facts } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { AMOUNT_NANOS_MAX, parseNanos, moneyText, AmountText } from '../../parts/number-text.tsx';
import { FaultLine, Loaded } from '../../parts/loaded.tsx';
import { parsePeriod, toBounds } from '../../parts/period.ts';
import type { Period } from '../../parts/period.ts';
import { Stats } from '../../parts/stats.tsx';
import type { Stat } from '../../parts/stats.tsx';
import { At } from '../../parts/time.tsx';
import { announce } from '../../state/announce.ts';
import { toCall, useCalls, useRpc } from '../../state/calls.ts';
import { readFree } from './accounts.tsx';
import { operatorWords } from './operator-words.ts';
import { booksWords } from './books-words.ts';
import { ActList } from './parts/act-list.tsx';
import type { Act } from './parts/act-list.tsx';
import { ReasonField } from './parts/reason-field.tsx';
import { Statement } from './parts/statement.tsx';
import { TokenSection } from './parts/token-section.tsx';
import type { Account, Token } from './parts/limit-fields.tsx';
import { useOperator } from './parts/use-operator.ts';

/** Maximum characters of a reason that the books keep. */
const REASON_MAX = 256;
const ACTS_SHOWN = 50;
const CREDITS_SHOWN = 50;
const empty = (): CreditDraft => ({ amount: '', reason: '', requestId: newRequestKey() });

const words = booksWords.accounts;

type Credit = RpcAnswer<'billing.AccountService/ListCredits'>['credits'][number];

const SPLITS = ['model', 'token', 'label'] as const;

export function page({ params, query }: PageProps): VNode {
  const id = params['accountId'] ?? '';
  const period = parsePeriod(query, serverNow());
  const split = SPLITS.find((one) => one === query.get('split')) ?? 'model';
  const view = useCalls(
    {
      account: toCall('billing.AccountService/GetAccount', { id }),
      tokens: toCall('billing.AccountService/ListTokens', { accountId: id }),
      credits: toCall('billing.AccountService/ListCredits', { accountId: id, limit: CREDITS_SHOWN }),
      usage: toCall('billing.UsageService/GetUsage', {
        ...{ accountId: id, ...toBounds(period) },
        ...{ groupBy: 'USAGE_GROUP_DAY', splitBy: toEnumName('USAGE_GROUP_', split) },
      }),
    },
    [],
    { acts: toCall('billing.AccountService/ListActs', { subject: id, limit: ACTS_SHOWN }) },
  );
  const canChange = useOperator().covers('treasurer');
  return (
    <>
      <PageTitle back={{ href: '/console/accounts', name: words.title }} title={words.account} id={id} />
      <Loaded view={view}>
        {({ account, tokens: { tokens }, credits: { credits }, usage, acts }) => (
          <AccountView
            account={requireValue(account.account)}
            acts={acts?.acts ?? []}
            {...{ tokens, credits, usage, period, query, canChange }}
            onChanged={view.refresh}
          />
        )}
      </Loaded>
    </>
  );
}

export interface AccountViewProps {
  readonly account: Account;
  readonly tokens: readonly Token[];
  readonly credits: readonly Credit[];
  readonly usage: RpcAnswer<'billing.UsageService/GetUsage'>;
  readonly acts: readonly Act[];
  readonly period: Period;
  readonly query: URLSearchParams;
  /** True if the operator may change money and tokens. */
  readonly canChange: boolean;
  readonly onChanged: () => void;
}

export function AccountView({ account, tokens, credits, usage, acts, ...page }: AccountViewProps): VNode {
  const { period, query, canChange, onChanged } = page;
  const { id, currency, balanceNanos, heldNanos, createdAt } = account;
  const stats: readonly Stat[] = [
    { name: words.free, note: words.freeHint, value: <AmountText money={readFree(account)} /> },
    { name: words.balance, note: words.balanceHint, value: <AmountText money={toMoney(balanceNanos, currency)} /> },
    { name: words.held, note: words.heldHint, value: <AmountText money={toMoney(heldNanos, currency)} /> },
  ];
  return (
    <>
      <Stats stats={stats} />
      <p class="account-links">
        <a href={`/console/tasks?account=${encodeURIComponent(id)}`}>{words.itsTasks}</a>
        <a href={`/console/jobs?account=${encodeURIComponent(id)}`}>{words.itsJobs}</a>
        <a href={`/console/money/margins?split=account&key=${encodeURIComponent(id)}`}>{words.itsMargins}</a>
        <span class="quiet">
          {words.createdAt} <At at={readTime(createdAt) ?? 0} />
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
        columns={listCreditColumns(currency)}
        rows={credits}
        keyOf={({ key }) => key}
        empty={words.noCredits}
      />
      <Statement usage={usage} period={period} path={`/console/accounts/${encodeURIComponent(id)}`} query={query} />
      <ActList acts={acts} title={words.acts} />
    </>
  );
}

function listCreditColumns(currency: string): readonly Column<Credit>[] {
  return [
    { name: words.at, cell: ({ at }) => <At at={readTime(at) ?? 0} /> },
    {
      name: words.amountName,
      isNumber: true,
      cell: ({ amountNanos }) => <AmountText money={toMoney(amountNanos, currency)} />,
    },
    { name: words.reason, cell: ({ reason }) => reason },
    { name: words.who, cell: ({ actor }) => actor },
  ];
}

interface CreditFormProps {
  readonly account: Account;
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
  const { currency } = account;
  const nanos = parseNanos(normalizeAmount(filled.amount)) ?? 0n;
  const isAmount = nanos !== 0n && nanos <= AMOUNT_NANOS_MAX && nanos >= -AMOUNT_NANOS_MAX;
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
            onInput={({ currentTarget }) => setFilled({ ...filled, amount: currentTarget.value })}
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
            onInput={(reason) => setFilled({ ...filled, reason })}
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
          onBack={() => setReviewed(false)}
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
  readonly account: Account;
  readonly credit: CreditDraft;
  readonly onDone: () => void;
  readonly onBack: () => void;
}

function SecondStep({ account, credit, onDone, onBack }: SecondStepProps): VNode {
  const { id, currency } = account;
  const isTaken = credit.amount.startsWith('-');
  const size = moneyText(credit.amount.replace('-', ''), currency);
  const { act, isBusy, fault } = useRpc('billing.AccountService/CreditAccount', () => {
    announce(words.credited(moneyText(credit.amount, currency), id));
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
        const { amount, reason, requestId } = credit;
        act({ id, amountNanos: String(parseNanos(amount) ?? 0n), reason, requestId });
      }}
    >
      <BeforeAndAfter account={account} amount={credit.amount} />
      <p>
        {operatorWords.reason.label}: {credit.reason}
      </p>
      <FaultLine text={fault?.message} />
    </ConfirmDialog>
  );
}

export function BeforeAndAfter({ account, amount }: { account: Account; amount: string }): VNode {
  const { balanceNanos, currency } = account;
  const after = BigInt(balanceNanos) + (parseNanos(amount) ?? 0n);
  return (
    <>
      <Facts
        style="sums"
        facts={[
          [words.before, formatNanos(balanceNanos, currency)],
          [words.change, moneyText(amount, currency)],
          [words.after, <strong>{formatNanos(after, currency)}</strong>],
        ]}
      />
      {after < 0n ? <p class="note">{words.belowZero}</p> : null}
    </>
  );
}
