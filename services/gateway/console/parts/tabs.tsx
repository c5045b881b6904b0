import type { ComponentChildren, VNode } from 'preact';
import { useId, useRef, useState } from 'preact/hooks';

export interface Tab {
  readonly id: string;
  readonly name: string;
  readonly panel: () => ComponentChildren;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** Tabs of which one is in the order of Tab keys; arrows, Home and End move between them. */
export function Tabs({ label, tabs }: { label: string; tabs: readonly Tab[] }): VNode {
  const [open, setOpen] = useState(tabs[0]?.id ?? '');
  const list = useRef<HTMLDivElement>(null);
  const base = useId();
  const shown = tabs.find(({ id }) => id === open) ?? tabs[0];
  const move = (event: KeyboardEvent): void => {
    const to = findTabByKey(
      event.key,
      tabs.findIndex((tab) => tab === shown),
      tabs.length,
    );
    if (to === undefined) return;
    event.preventDefault();
    setOpen(tabs[to]?.id ?? '');
    list.current?.querySelectorAll('button')[to]?.focus();
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            type="button"
            role="tab"
            id={`${base}-${tab.id}`}
            aria-controls={`${base}-panel`}
            aria-selected={tab === shown ? 'true' : 'false'}
            tabindex={tab === shown ? 0 : -1}
            onClick={() => setOpen(tab.id)}
          >
            {tab.name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${base}-panel`} aria-labelledby={`${base}-${shown?.id ?? ''}`} tabindex={0}>
        {shown?.panel()}
      </div>
    </div>
  );
}

/** The tab that a key selects, or undefined if the key selects no tab. */
function findTabByKey(key: string, at: number, count: number): number | undefined {
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  const step = STEPS[key];
  return step === undefined ? undefined : (at + step + count) % count;
}
