import { html } from '../html.ts';
import type { VNode } from '../html.ts';
import { words } from '../words.ts';

export type State = 'queued' | 'in_progress' | 'completed' | 'failed';

/** A shape for each state, so that no state is known by its colour alone. */
const SHAPES: Readonly<Record<State, string>> = { queued: '○', in_progress: '◐', completed: '●', failed: '✕' };

export function StateBadge({ state }: { state: State }): VNode {
  return html`<span class=${`state ${state}`}
    ><span aria-hidden="true">${SHAPES[state]}</span> ${words.states[state]}</span
  >`;
}
