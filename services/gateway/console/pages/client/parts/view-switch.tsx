import type { VNode } from 'preact';
import { setQuery } from '../../../state/address.ts';
import { tasksWords } from '../client-words.ts';

const words = tasksWords.views;
const VIEWS = ['list', 'compact', 'gallery'] as const;
const KEPT = 'reelgate.tasks-view';

/** The forms of the list of tasks. */
export type TasksView = (typeof VIEWS)[number];

/** The form that the address names, else the one that was chosen last in this browser. */
export function readView(query: URLSearchParams): TasksView {
  return toView(query.get('view')) ?? toView(readKept()) ?? 'list';
}

/** Chooses the form of the list. A link to the page holds it, and the next visit has it too. */
export function ViewSwitch({ view }: { view: TasksView }): VNode {
  return (
    <div class="segments" role="group" aria-label={words.legend}>
      {VIEWS.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === view ? 'true' : 'false'}
          onClick={() => {
            keep(name);
            setQuery({ view: name }, { replace: true });
          }}
        >
          {words[name]}
        </button>
      ))}
    </div>
  );
}

function toView(text: string | null): TasksView | undefined {
  return VIEWS.find((view) => view === text);
}

/** A browser can refuse pages a storage. Then only the address holds the choice. */
function readKept(): string | null {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

function keep(view: TasksView): void {
  try {
    localStorage.setItem(KEPT, view);
  } catch {
    // the address has it
  }
}
