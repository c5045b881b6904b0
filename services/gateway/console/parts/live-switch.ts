import { useLiveSwitch } from '../state/live.ts';
import { useOutage } from '../state/outage.ts';
import { html } from '../html.ts';
import type { VNode } from '../html.ts';
import { words } from '../words.ts';

/** Says how the page follows changes, and pauses it. */
export function LiveSwitch(): VNode | null {
  const { state, toggle } = useLiveSwitch();
  const outage = useOutage();
  if (state === 'none') return null;
  // an outage stops the updates, unless only a part of the page has one
  const isOff = outage !== undefined && (outage.kind === 'silent' ? state !== 'paused' : state === 'polling');
  return html`<button
    type="button"
    class=${state === 'live' && !isOff ? 'live connected' : `live ${state}`}
    aria-pressed=${state === 'paused'}
    title=${state === 'paused' ? words.live.resume : words.live.pause}
    onClick=${toggle}
  >
    ${isOff ? words.live.off : words.live[state]}
  </button>`;
}
