import type { VNode } from 'preact';
import { moneyText } from '../../../parts/number-text.tsx';
import { Ago } from '../../../parts/time.tsx';
import { attentionWords } from '../attention-words.ts';
import type { AttentionRow } from './attention-rows.ts';
import type { QueueEntry, ChosenEntries, Selection } from './use-desk.ts';

const words = attentionWords.attention;

export interface QueueListProps {
  readonly entries: readonly QueueEntry[];
  readonly open: string;
  readonly onOpen: (id: string) => void;
  readonly onClear: () => void;
  /** Undefined: the visitor may not decide. */
  readonly choosing: Selection | undefined;
}

/** The queue: one button an entry, the oldest first. */
export function QueueList({ entries, open, onOpen, onClear, choosing }: QueueListProps): VNode {
  const decided = entries.filter(({ isDecided }) => isDecided).length;
  return (
    <>
      <ol class="queue">
        {entries.map(({ row, isDecided }) => (
          <li key={row.id}>
            {choosing === undefined || isDecided ? null : <ChooseBox row={row} choosing={choosing} />}
            <button
              type="button"
              class={isDecided ? 'entry decided' : 'entry'}
              data-id={row.id}
              aria-current={row.id === open ? 'true' : undefined}
              onClick={() => onOpen(row.id)}
            >
              <Entry row={row} isDecided={isDecided} />
            </button>
          </li>
        ))}
      </ol>
      {decided === 0 ? null : (
        <button type="button" class="quiet" onClick={onClear}>
          {words.clear(decided)}
        </button>
      )}
    </>
  );
}

function ChooseBox({ row, choosing: { chosen, refuse, onChoose } }: { row: AttentionRow; choosing: Selection }): VNode {
  const refusal = refuse(row);
  return (
    <label class="choose" title={refusal}>
      <span class="spoken">{words.batch.choose(row.id)}</span>
      <input
        type="checkbox"
        checked={chosen.has(row.id)}
        disabled={refusal !== undefined}
        onChange={({ currentTarget }) => onChoose(row.id, currentTarget.checked)}
      />
    </label>
  );
}

function Entry({ row, isDecided }: QueueEntry): VNode {
  const { id, isJob, since, reason, accountId, model, channel } = row;
  const facts = [isJob ? words.job : words.task, accountId, model, channel, isDecided ? '' : describeHold(row)];
  return (
    <>
      <span class="entry-top">
        <strong>
          {isDecided ? (
            <>
              <span aria-hidden="true">✓</span> {words.decided}
            </>
          ) : (
            reasonText(reason)
          )}
        </strong>
        <Ago at={since} />
      </span>
      <span class="id">{id}</span>
      <span class="small quiet">{facts.filter((fact) => fact !== '').join(' · ')}</span>
    </>
  );
}

function describeHold({ held }: AttentionRow): string {
  return held === undefined ? words.moneyUnknown : words.held(moneyText(held.amount, held.currency));
}

export function reasonText(reason: string): string {
  return words.reasons[reason] ?? reason.replaceAll('_', ' ');
}

interface QueueBarProps {
  readonly count: string;
  readonly isOn: boolean;
  readonly onSwitch: (isOn: boolean) => void;
}

/** Shows the number of entries that wait, and the switch of the shortcuts. */
export function QueueBar({ count, isOn, onSwitch }: QueueBarProps): VNode {
  return (
    <div class="queue-bar">
      <span>{count}</span>
      <label class="shortcuts">
        <input
          type="checkbox"
          role="switch"
          checked={isOn}
          onChange={({ currentTarget }) => onSwitch(currentTarget.checked)}
        />
        {words.shortcuts}
      </label>
      {isOn ? <span class="shortcuts small quiet">{words.shortcutsHint}</span> : null}
    </div>
  );
}

/** Shows the entries that are chosen to be decided together, and the way there. */
export function ChosenBar({ chosen, onTogether }: { chosen: ChosenEntries; onTogether: () => void }): VNode {
  const { rows, alike, chooseAlike, clear } = chosen;
  if (rows.length === 0) return <p class="small quiet">{words.batch.hint}</p>;
  return (
    <div class="queue-bar" role="group" aria-label={words.batch.chosen(rows.length)}>
      <span>{words.batch.chosen(rows.length)}</span>
      {alike.length > rows.length ? (
        <button type="button" class="quiet" onClick={chooseAlike}>
          {words.batch.chooseAlike(alike.length)}
        </button>
      ) : null}
      <button type="button" class="quiet" onClick={clear}>
        {words.batch.clear}
      </button>
      <button type="button" class="main" onClick={onTogether}>
        {words.batch.together(rows.length)}
      </button>
    </div>
  );
}
