import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Money } from '../../../api/money.ts';
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx';
import { DataTable, Facts } from '../../../parts/data-table.tsx';
import type { Column } from '../../../parts/data-table.tsx';
import { formatMoney } from '../../../parts/number-text.tsx';
import { attentionWords } from '../attention-words.ts';
import { operatorWords } from '../operator-words.ts';
import type { AttentionRow, Resolution, WantedDecision } from './attention-rows.ts';
import { confirmBatchText, sumDecisions, sumText } from './consequence.ts';
import { reasonText } from './queue-list.tsx';
import { ReasonField } from './reason-field.tsx';

const words = attentionWords.attention;
const NONE = '–';

export interface BatchFormProps {
  /** Of one cause. */
  readonly rows: readonly AttentionRow[];
  readonly onConfirm: (decision: WantedDecision) => void;
}

/** One decision over several entries: what it does to the money of each and of all, one reason, and a second step. */
export function BatchForm({ rows, onConfirm }: BatchFormProps): VNode {
  const [chosen, setChosen] = useState<Resolution | undefined>(undefined);
  const [reason, setReason] = useState('');
  const [isTried, setTried] = useState(false);
  const [isReviewed, setReviewed] = useState(false);
  const review = (event: SubmitEvent): void => {
    event.preventDefault();
    setTried(true);
    setReviewed(chosen !== undefined && reason.trim() !== '');
  };
  return (
    <>
      <h2 tabindex={-1}>{words.batch.title(rows.length, reasonText(rows[0]?.reason ?? ''))}</h2>
      <p>{words.batch.each}</p>
      <form novalidate onSubmit={review}>
        <BatchChoices rows={rows} chosen={chosen} onChoose={setChosen} isFaulty={isTried && chosen === undefined} />
        <BatchTable rows={rows} resolution={chosen} />
        <ReasonField
          value={reason}
          onInput={setReason}
          fault={isTried && reason.trim() === '' ? operatorWords.reason.missing : undefined}
        />
        <div class="actions">
          <button type="submit" class="main">
            {words.batch.review(rows.length)}
          </button>
        </div>
      </form>
      {isReviewed && chosen !== undefined ? (
        <ConfirmDialog
          title={words.batch.confirmTitle(rows.length)}
          confirm={confirmBatchText(sumDecisions(rows, chosen), rows.length)}
          cancel={operatorWords.dialog.back}
          onCancel={() => setReviewed(false)}
          onConfirm={() => onConfirm({ resolution: chosen, reason: reason.trim() })}
        >
          <p>
            <strong>{operatorWords.resolutions[chosen]}.</strong> {sumText(sumDecisions(rows, chosen))}
          </p>
          <Facts
            facts={[
              [words.batch.entries, rows.length],
              [operatorWords.reason.label, reason.trim()],
            ]}
          />
          <p>{words.batch.final}</p>
        </ConfirmDialog>
      ) : null}
    </>
  );
}

interface BatchChoicesProps {
  readonly rows: readonly AttentionRow[];
  readonly chosen: Resolution | undefined;
  readonly onChoose: (resolution: Resolution) => void;
  readonly isFaulty: boolean;
}

function BatchChoices({ rows, chosen, onChoose, isFaulty }: BatchChoicesProps): VNode {
  return (
    <fieldset aria-describedby="decision-fault">
      <legend>{words.whatHappened}</legend>
      {rows[0]?.decisions.map(({ resolution, refusedBecause }) => (
        <label class="choice" key={resolution}>
          <input
            type="radio"
            name="resolution"
            value={resolution}
            checked={resolution === chosen}
            disabled={refusedBecause !== undefined}
            onChange={() => onChoose(resolution)}
          />
          <span>
            <strong>{operatorWords.resolutions[resolution]}</strong>
            <span class="consequence">{refusedBecause ?? sumText(sumDecisions(rows, resolution))}</span>
          </span>
        </label>
      ))}
      <p id="decision-fault" class="fault" role="alert">
        {isFaulty ? words.chooseOne : ''}
      </p>
    </fieldset>
  );
}

function BatchTable({
  rows,
  resolution,
}: {
  rows: readonly AttentionRow[];
  resolution: Resolution | undefined;
}): VNode {
  const decisionOn = ({ decisions }: AttentionRow) => decisions.find((one) => one.resolution === resolution);
  const columns: readonly Column<AttentionRow>[] = [
    { name: words.batch.entry, cell: ({ id }) => <span class="id">{id}</span>, isHead: true },
    { name: words.account, cell: ({ accountId }) => accountId },
    { name: words.heldNow, cell: ({ held }) => showAmount(held), isNumber: true },
    ...(resolution === undefined
      ? []
      : [
          {
            name: words.batch.charges,
            cell: (row: AttentionRow) => showAmount(decisionOn(row)?.charge),
            isNumber: true,
          },
          {
            name: words.batch.returns,
            cell: (row: AttentionRow) => showAmount(decisionOn(row)?.release),
            isNumber: true,
          },
        ]),
  ];
  return <DataTable caption={words.batch.entries} columns={columns} rows={rows} keyOf={({ id }) => id} />;
}

function showAmount(money: Money | undefined): string {
  return money === undefined ? NONE : formatMoney(money);
}
