import { useLiveSwitch } from '../state/live.ts';
import { html } from '../html.ts';
import type { VNode } from '../html.ts';
import { words } from '../words.ts';

/** Says how the page follows changes, and pauses it. */
export function LiveSwitch(): VNode | null {
  const { state, toggle } = useLiveSwitch();
  if (state === 'none') return null;
  return html`<button
    type="button"
    class=${state === 'live' ? 'live connected' : `live ${state}`}
    aria-pressed=${state === 'paused'}
    title=${state === 'paused' ? words.live.resume : words.live.pause}
    onClick=${toggle}
  >
    ${words.live[state]}
  </button>`;
}
