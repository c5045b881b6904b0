import type { DoorQueue } from '../state/door.ts';
import type { WaitingNow } from '../state/use-server-watch.ts';
import { html } from '../html.ts';
import type { VNode } from '../html.ts';

/** The part of a queue that is shown here. */
type Named = Pick<DoorQueue<never>, 'words'>;

/** Shows how many entries wait, beside the name of their page. Nothing is shown while none waits. */
export function WaitingCount({ waiting, queue }: { waiting: WaitingNow; queue: Named }): VNode | null {
  if (waiting === undefined || (waiting !== 'unknown' && waiting.count === 0)) return null;
  const { shown, label, unknown } = queue.words;
  const [figure, text] =
    waiting === 'unknown'
      ? ['?', unknown]
      : [shown(waiting.count, waiting.hasMore), label(waiting.count, waiting.hasMore)];
  return html` <span class="count" aria-hidden="true">${figure}</span><span class="spoken"> ${text}</span>`;
}

/** Returns the beginning of the title of a tab, such as `(3) `. */
export function titleCount(waiting: WaitingNow, queue: Named | undefined): string {
  if (waiting === undefined || waiting === 'unknown' || waiting.count === 0 || queue === undefined) return '';
  return `(${queue.words.shown(waiting.count, waiting.hasMore)}) `;
}
