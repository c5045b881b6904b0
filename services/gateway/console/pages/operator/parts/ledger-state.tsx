import type { VNode } from 'preact';
import type { LedgerCheck } from '../../../api/operator-money.ts';
import { announce } from '../../../state/announce.ts';
import { useAct } from '../../../state/use-act.ts';
import { Ago, spanText } from '../../../parts/time.tsx';
import { operatorWords } from '../operator-words.ts';
import { booksWords } from '../books-words.ts';

const words = booksWords.money;

export interface LedgerStateProps {
  /** The last one that is kept; undefined: none is. */
  readonly check: LedgerCheck | undefined;
  readonly canVerify: boolean;
  readonly onVerified: (check: LedgerCheck) => void;
}

/** Shows the outcome of the last check of the ledger, and a way to check it now. */
export function LedgerState({ check, canVerify, onVerified }: LedgerStateProps): VNode {
  const { act, isBusy, fault, answer } = useAct<LedgerCheck>((told) => {
    announce(told.ok ? words.passed : words.failed);
    onVerified(told);
  });
  const last = answer ?? check;
  return (
    <section class="card">
      <h2>{words.ledger}</h2>
      {last === undefined ? <p class="quiet">{words.neverChecked}</p> : <Check check={last} />}
      <div class="actions">
        <button
          type="button"
          disabled={!canVerify || isBusy}
          aria-describedby="verify-note"
          onClick={() => {
            act('/money/verify');
          }}
        >
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

function Check({ check: { ok, at, tookMs, entries, faults, actor } }: { check: LedgerCheck }): VNode {
  return (
    <>
      <p class={ok ? 'good' : 'bad'}>
        <span aria-hidden="true">{ok ? '●' : '✕'}</span> {ok ? words.passed : words.failed}
      </p>
      <p class="small quiet">
        <Ago at={at} />
        {words.checkFacts(actor, entries, spanText(tookMs))}
      </p>
      {faults.length === 0 ? null : (
        <ul class="error-text">
          {faults.map((fault) => (
            <li key={fault}>{fault}</li>
          ))}
        </ul>
      )}
    </>
  );
}
