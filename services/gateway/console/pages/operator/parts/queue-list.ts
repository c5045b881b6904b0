import type { AttentionRow } from '../../../api/operator-attention.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { moneyText } from '../../../parts/money-text.ts';
import { Ago } from '../../../parts/time.ts';
import { attentionWords } from '../attention-words.ts';
import type { QueueEntry } from './queue.ts';

const words = attentionWords.attention;

export interface QueueListProps {
  readonly entries: readonly QueueEntry[];
  readonly open: string;
  readonly onOpen: (id: string) => void;
  readonly onClear: () => void;
  /** Undefined: the visitor may not decide. */
  readonly choosing: Selection | undefined;
}

/** The entries that are to be decided together. */
export interface Selection {
  readonly chosen: ReadonlySet<string>;
  /** Returns why an entry cannot be chosen now; undefined: it can. */
  readonly refuse: (row: AttentionRow) => string | undefined;
  readonly onChoose: (id: string, isChosen: boolean) => void;
}

/** The queue: one button an entry, the oldest first. */
export function QueueList({ entries, open, onOpen, onClear, choosing }: QueueListProps): VNode {
  const decided = entries.filter(({ isDecided }) => isDecided).length;
  return html`
    <ol class="queue">
      ${entries.map(
        ({ row, isDecided }) =>
          html`<li key=${row.id}>
            ${choosing === undefined || isDecided ? null : html`<${ChooseBox} row=${row} choosing=${choosing} />`}
            <button
              type="button"
              class=${isDecided ? 'entry decided' : 'entry'}
              data-id=${row.id}
              aria-current=${row.id === open ? 'true' : undefined}
              onClick=${() => {
                onOpen(row.id);
              }}
            >
              <${Entry} row=${row} isDecided=${isDecided} />
            </button>
          </li>`,
      )}
    </ol>
    ${decided === 0 ? null : html`<button type="button" class="quiet" onClick=${onClear}>${words.clear(decided)}</button>`}
  `;
}

function ChooseBox({ row, choosing: { chosen, refuse, onChoose } }: { row: AttentionRow; choosing: Selection }): VNode {
  const refusal = refuse(row);
  return html`<label class="choose" title=${refusal}>
    <span class="spoken">${words.batch.choose(row.id)}</span>
    <input
      type="checkbox"
      checked=${chosen.has(row.id)}
      disabled=${refusal !== undefined}
      onChange=${({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
        onChoose(row.id, currentTarget.checked);
      }}
    />
  </label>`;
}

function Entry({ row, isDecided }: QueueEntry): VNode {
  const { id, isJob, since, reason, accountId, model, channel } = row;
  const facts = [isJob ? words.job : words.task, accountId, model, channel, isDecided ? '' : describeHold(row)];
  return html`
    <span class="entry-top">
      <strong>${isDecided ? html`<span aria-hidden="true">✓</span> ${words.decided}` : reasonText(reason)}</strong>
      <${Ago} at=${since} />
    </span>
    <span class="id">${id}</span>
    <span class="small quiet">${facts.filter((fact) => fact !== '').join(' · ')}</span>
  `;
}

function describeHold({ held }: AttentionRow): string {
  return held === undefined ? words.moneyUnknown : words.held(moneyText(held.amount, held.currency));
}

export function reasonText(reason: string): string {
  return words.reasons[reason] ?? reason.replaceAll('_', ' ');
}
