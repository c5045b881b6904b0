import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { Badge } from '../../../parts/state-badge.ts';
import type { Tone } from '../../../parts/state-badge.ts';
import { tryWords } from '../try-words.ts';
import type { FormCreate, MakingState } from './making.ts';

const words = tryWords.making;
const TONES: Readonly<Record<MakingState, Tone>> = {
  ready: 'quiet',
  sent: 'busy',
  made: 'good',
  refused: 'bad',
  lost: 'busy',
};

export interface MakingListProps {
  readonly makings: readonly FormCreate[];
  readonly isBusy: boolean;
  readonly onAskAgain: () => void;
}

/** Shows what became of each create. */
export function MakingList({ makings, isBusy, onAskAgain }: MakingListProps): VNode | null {
  const isUnfinished = makings.some(({ state }) => state !== 'made');
  if (makings.length < 2 && !makings.some(({ state, isUntold }) => state === 'lost' || isUntold === true)) return null;
  return html`<section class="card" aria-live="polite">
    <h2>${words.title}</h2>
    <ol class="makings">
      ${makings.map(
        ({ key, prompt, state, taskId, message }) =>
          html`<li key=${key}>
            <${Badge} tone=${TONES[state]}>${words.states[state]}<//>
            <span>
              ${taskId === undefined ? prompt : html`<a href=${`/console/tasks/${encodeURIComponent(taskId)}`}>${prompt}</a>`}
              ${message === undefined ? null : html`<span class="small fault">${message}</span>`}
            </span>
          </li>`,
      )}
    </ol>
    <p class="actions">
      ${
        isUnfinished && !isBusy
          ? html`<button type="button" onClick=${onAskAgain}>${words.askAgain}</button>
              <span class="small quiet">${words.once}</span>`
          : null
      }
      ${isUnfinished ? null : html`<a class="button" href="/console/tasks?view=gallery">${words.all}</a>`}
    </p>
  </section>`;
}
