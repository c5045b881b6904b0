import type { VNode } from 'preact';
import { Badge } from '../../../parts/state-badge.tsx';
import type { Tone } from '../../../parts/state-badge.tsx';
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
  readonly onBeginAnew: () => void;
}

/** Shows the outcome of each create. */
export function MakingList({ makings, isBusy, onAskAgain, onBeginAnew }: MakingListProps): VNode | null {
  const count = (wanted: MakingState): number => makings.filter(({ state }) => state === wanted).length;
  const [made, lost] = [count('made'), count('lost')];
  if (makings.length < 2 && made + lost === 0) return null;
  return (
    <section class="card" aria-live="polite">
      <h2>{words.title}</h2>
      <ol class="makings">
        {makings.map(({ key, prompt, state, taskId, message }) => (
          <li key={key}>
            <Badge tone={TONES[state]}>{words.states[state]}</Badge>
            <span>
              {taskId === undefined ? prompt : <a href={`/console/tasks/${encodeURIComponent(taskId)}`}>{prompt}</a>}
              {message === undefined ? null : <span class="small fault">{message}</span>}
            </span>
          </li>
        ))}
      </ol>
      <p role="status">
        {words.count(made, makings.length)} <span class="small quiet">{words.once}</span>
      </p>
      <p class="actions">
        {lost > 0 && !isBusy ? (
          <button type="button" onClick={onAskAgain}>
            {words.askAgain}
          </button>
        ) : null}
        {made > 0 && !isBusy ? (
          <>
            <a class="button" href="/console/tasks?view=gallery">
              {words.all}
            </a>
            <button type="button" onClick={onBeginAnew}>
              {words.anew}
            </button>
          </>
        ) : null}
      </p>
    </section>
  );
}
