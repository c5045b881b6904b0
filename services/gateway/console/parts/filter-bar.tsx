import type { ComponentChildren, VNode } from 'preact';
import { useId, useState } from 'preact/hooks';
import { words } from '../words.ts';

export interface FilterBarProps {
  /** The number of filters that are set; a phone shows it while they are folded. */
  readonly setCount: number;
  readonly children: ComponentChildren;
}

/** The filters of a list. They are in a row, and folded behind a button on a phone. */
export function FilterBar({ setCount, children }: FilterBarProps): VNode {
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  return (
    <div class={isOpen ? 'filter-bar open' : 'filter-bar'}>
      <button
        type="button"
        class="fold"
        aria-expanded={isOpen ? 'true' : 'false'}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {words.filters(setCount)}
      </button>
      <div class="filters" id={id}>
        {children}
      </div>
    </div>
  );
}
