import type { ComponentChildren, VNode } from 'preact';
import { words } from '../words.ts';

export type State = 'queued' | 'in_progress' | 'completed' | 'failed';

export type Tone = 'good' | 'bad' | 'busy' | 'accent' | 'quiet';

/** A word in the colour of its meaning. The shape before it says the same without the colour. */
export function Badge({ tone, shape, children }: { tone: Tone; shape?: string; children: ComponentChildren }): VNode {
  return (
    <span class={`badge ${tone}`}>
      {shape === undefined ? null : <span aria-hidden="true">{shape} </span>}
      {children}
    </span>
  );
}

/** A shape for each state, so that no state is known by its colour alone. */
const SHAPES: Readonly<Record<State, string>> = { queued: '○', in_progress: '◐', completed: '●', failed: '✕' };

/** The state by its shape alone. Its word is for screen readers, and for a pointer that rests on it. */
export function StateShape({ state }: { state: State }): VNode {
  return (
    <span class={`state-shape ${state}`} title={words.states[state]}>
      <span aria-hidden="true">{SHAPES[state]}</span>
      <span class="spoken">{words.states[state]}</span>
    </span>
  );
}

/** The state by its word, or by a text that says more than the word. */
export function StateBadge({ state, text = words.states[state] }: { state: State; text?: string }): VNode {
  return (
    <span class={`state ${state}`}>
      <span aria-hidden="true">{SHAPES[state]}</span> <span>{text}</span>
    </span>
  );
}
