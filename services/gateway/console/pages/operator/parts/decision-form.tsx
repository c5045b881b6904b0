import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { Facts } from '../../../parts/data-table.tsx';
import { FaultLine } from '../../../parts/loaded.tsx';
import { attentionWords } from '../attention-words.ts';
import { operatorWords } from '../operator-words.ts';
import { decide } from './attention-rows.ts';
import type { AttentionRow, Decision, MadeDecision, Resolution, WantedDecision } from './attention-rows.ts';
import { confirmText, consequenceText } from './consequence.ts';
import { ReasonField } from './reason-field.tsx';
import { sendCall } from '../../../state/calls.ts';
import { useSending } from '../../../state/use-act.ts';

const words = attentionWords.attention;
const DECIDED_ALREADY = 'not_in_attention';

export interface DecisionFormProps {
  readonly row: AttentionRow;
  readonly canDecide: boolean;
  readonly onDecided: (id: string, answer: MadeDecision) => void;
  /** Somebody else has decided meanwhile. */
  readonly onChanged: () => void;
}

/** The possible decisions with what they do to the money, a reason, and a second step. */
export function DecisionForm({ row, canDecide, onDecided, onChanged }: DecisionFormProps): VNode {
  const [chosen, setChosen] = useState<Resolution | undefined>(undefined);
  const [reason, setReason] = useState('');
  const [isReviewed, setReviewed] = useState(false);
  const [isTried, setTried] = useState(false);
  const decision = row.decisions.find(({ resolution }) => resolution === chosen);
  const review = (event: SubmitEvent): void => {
    event.preventDefault();
    setTried(true);
    setReviewed(decision !== undefined && reason.trim() !== '');
  };
  return (
    <>
      <form novalidate onSubmit={review}>
        <fieldset disabled={!canDecide} aria-describedby={canDecide ? 'decision-fault' : 'may-not-decide'}>
          <legend>{words.whatHappened}</legend>
          {row.decisions.map((each) => (
            <Choice
              key={each.resolution}
              decision={each}
              row={row}
              isChosen={each.resolution === chosen}
              onChoose={setChosen}
            />
          ))}
          <p id="decision-fault" class="fault" role="alert">
            {isTried && decision === undefined ? words.chooseOne : ''}
          </p>
        </fieldset>
        <ReasonField
          value={reason}
          onInput={setReason}
          isDisabled={!canDecide}
          fault={isTried && reason.trim() === '' ? operatorWords.reason.missing : undefined}
        />
        <div class="actions">
          <button type="submit" class="main" disabled={!canDecide}>
            {words.review}
          </button>
        </div>
      </form>
      {isReviewed && decision !== undefined ? (
        <SecondStep
          row={row}
          decision={decision}
          reason={reason.trim()}
          onDecided={onDecided}
          onChanged={onChanged}
          onBack={() => setReviewed(false)}
        />
      ) : null}
    </>
  );
}

interface ChoiceProps {
  readonly decision: Decision;
  readonly row: AttentionRow;
  readonly isChosen: boolean;
  readonly onChoose: (resolution: Resolution) => void;
}

function Choice({ decision, row, isChosen, onChoose }: ChoiceProps): VNode {
  const { resolution, refusedBecause } = decision;
  return (
    <label class="choice">
      <input
        type="radio"
        name="resolution"
        value={resolution}
        checked={isChosen}
        disabled={refusedBecause !== undefined}
        onChange={() => onChoose(resolution)}
      />
      <span>
        <strong>{operatorWords.resolutions[resolution]}</strong>
        <span class="consequence">{refusedBecause ?? consequenceText(decision)}</span>
        {refusedBecause === undefined ? <span class="small quiet">{explanation(row, resolution)}</span> : null}
      </span>
    </label>
  );
}

/** Describes what happens apart from the money. */
function explanation({ isJob, state }: AttentionRow, resolution: Resolution): string {
  if (isJob) return words.explained[resolution].job;
  return words.explained[resolution][state === 'completed' || state === 'failed' ? 'finished' : 'unfinished'];
}

interface SecondStepProps extends Omit<DecisionFormProps, 'canDecide'> {
  readonly decision: Decision;
  readonly reason: string;
  readonly onBack: () => void;
}

function SecondStep({ row, decision, reason, onDecided, onChanged, onBack }: SecondStepProps): VNode {
  const { act, isBusy, fault } = useSending(
    (wanted: WantedDecision) => decide(sendCall, row.id, wanted),
    (made) => {
      onBack();
      onDecided(row.id, made);
    },
  );
  const isLate = fault?.code === DECIDED_ALREADY;
  useEffect(() => {
    if (isLate) onChanged();
  }, [isLate, onChanged]);
  return (
    <ConfirmDialog
      title={words.confirmTitle}
      confirm={confirmText(decision)}
      cancel={operatorWords.dialog.back}
      isBusy={isBusy}
      onCancel={onBack}
      onConfirm={() => act({ resolution: decision.resolution, reason })}
    >
      <p>
        <strong>{operatorWords.resolutions[decision.resolution]}.</strong> {consequenceText(decision)}
      </p>
      <Facts
        facts={[
          [row.isJob ? words.job : words.task, <span class="id">{row.id}</span>],
          [words.account, row.accountId],
          [operatorWords.reason.label, reason],
        ]}
      />
      <p>{words.final}</p>
      <FaultLine text={fault?.message} />
    </ConfirmDialog>
  );
}
