import type { VNode } from 'preact';
import type { RpcAnswer } from '../../../api/calls.ts';
import { readTime } from '../../../parts/contract-values.ts';
import { announce } from '../../../state/announce.ts';
import { useRpc } from '../../../state/calls.ts';
import { Ago, spanText } from '../../../parts/time.tsx';
import { operatorWords } from '../operator-words.ts';
import { booksWords } from '../books-words.ts';

const words = booksWords.money;

type LedgerCheck = NonNullable<RpcAnswer<'billing.AccountService/GetMoney'>['lastCheck']>;

export interface LedgerStateProps {
  /** The last check that is kept; undefined if the ledger was never checked. */
  readonly check: LedgerCheck | undefined;
  readonly canVerify: boolean;
  readonly onVerified: () => void;
}

/** Shows the outcome of the last check of the ledger, and a way to check it now. */
export function LedgerState({ check, canVerify, onVerified }: LedgerStateProps): VNode {
  const { act, isBusy, fault, answer } = useRpc('billing.AccountService/VerifyLedger', ({ ok }) => {
    announce(ok ? words.passed : words.failed);
    onVerified();
  });
  return (
    <section class="card">
      <h2>{words.ledger}</h2>
      {check === undefined ? <p class="quiet">{words.neverChecked}</p> : <Check check={check} />}
      {answer === undefined || answer.ok || check?.ok === false ? null : <Faults faults={answer.faults} />}
      <div class="actions">
        <button type="button" disabled={!canVerify || isBusy} aria-describedby="verify-note" onClick={() => act({})}>
          {isBusy ? words.verifying : words.verify}
        </button>
      </div>
      <p id="verify-note" class="small quiet">
        {canVerify ? words.verifyHint : operatorWords.needsRole('treasurer', words.needed)}
      </p>
      <p class="fault" role="alert">
        {fault?.message ?? ''}
      </p>
    </section>
  );
}

function Check({ check: { ok, at = '', tookMs, entries, faults, actor } }: { check: LedgerCheck }): VNode {
  return (
    <>
      <p class={ok ? 'good' : 'bad'}>
        <span aria-hidden="true">{ok ? '●' : '✕'}</span> {ok ? words.passed : words.failed}
      </p>
      <p class="small quiet">
        <Ago at={readTime(at)} />
        {words.checkFacts(actor, Number(entries), spanText(Number(tookMs)))}
      </p>
      <Faults faults={faults} />
    </>
  );
}

function Faults({ faults }: { faults: readonly string[] }): VNode | null {
  return faults.length === 0 ? null : (
    <ul class="error-text">
      {faults.map((fault) => (
        <li key={fault}>{fault}</li>
      ))}
    </ul>
  );
}
