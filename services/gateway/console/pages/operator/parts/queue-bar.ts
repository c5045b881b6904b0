import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { attentionWords } from '../attention-words.ts';
import type { ChosenEntries } from './use-choosing.ts';

const words = attentionWords.attention;

export interface QueueBarProps {
  readonly count: string;
  readonly isOn: boolean;
  readonly onSwitch: (isOn: boolean) => void;
}

/** Shows the number of entries that wait, and the switch of the shortcuts. */
export function QueueBar({ count, isOn, onSwitch }: QueueBarProps): VNode {
  return html`<div class="queue-bar">
    <span>${count}</span>
    <label>
      <input
        type="checkbox"
        role="switch"
        checked=${isOn}
        onChange=${({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
          onSwitch(currentTarget.checked);
        }}
      />
      ${words.shortcuts}
    </label>
    ${isOn ? html`<span class="small quiet">${words.shortcutsHint}</span>` : null}
  </div>`;
}

/** Shows the entries that are chosen to be decided together, and the way there. */
export function ChosenBar({ chosen, onTogether }: { chosen: ChosenEntries; onTogether: () => void }): VNode {
  const { rows, alike, chooseAlike, clear } = chosen;
  if (rows.length === 0) return html`<p class="small quiet">${words.batch.hint}</p>`;
  return html`<div class="queue-bar" role="group" aria-label=${words.batch.chosen(rows.length)}>
    <span>${words.batch.chosen(rows.length)}</span>
    ${
      alike.length > rows.length
        ? html`<button type="button" class="quiet" onClick=${chooseAlike}>
            ${words.batch.chooseAlike(alike.length)}
          </button>`
        : null
    }
    <button type="button" class="quiet" onClick=${clear}>${words.batch.clear}</button>
    <button type="button" class="main" onClick=${onTogether}>${words.batch.together(rows.length)}</button>
  </div>`;
}
