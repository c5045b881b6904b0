import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { RefObject } from 'preact';
import type { AttentionList } from '../../api/operator-attention.ts';
import { setQuery } from '../../state/address.ts';
import { announce } from '../../state/announce.ts';
import { useView } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { Loaded } from '../../parts/loaded.ts';
import { AttentionItem } from './parts/attention-item.ts';
import { QueueList } from './parts/queue-list.ts';
import { mergedQueue, movedBy } from './parts/queue.ts';
import type { QueueEntry } from './parts/queue.ts';
import { useKeys, useShortcutSwitch } from './parts/use-shortcuts.ts';
import { operatorWords } from './operator-words.ts';

const words = operatorWords.attention;

export function page({ query }: PageProps): VNode {
  const view = useView<AttentionList>('/attention', ['attention']);
  return html`<h1>${words.title}</h1>
    <${Loaded} view=${view}>
      ${(list: AttentionList) =>
        html`<${AttentionView} list=${list} open=${query.get('open') ?? ''} onChanged=${view.refresh} />`}
    <//>`;
}

export interface AttentionViewProps {
  readonly list: AttentionList;
  /** The id of the open entry; empty: none is. */
  readonly open: string;
  readonly onChanged: () => void;
}

export function AttentionView({ list, open, onChanged }: AttentionViewProps): VNode {
  const { entries, clear } = useQueue(list);
  const [isOn, setOn] = useShortcutSwitch();
  const opened = entries.find(({ row }) => row.id === open);
  const queue = useRef<HTMLElement>(null);
  const pane = usePaneFocus(open);
  useKeys(isOn, (event) => {
    const buttons = [...(queue.current?.querySelectorAll('button') ?? [])];
    const to = movedBy(event.key, placeOf(buttons, open), buttons.length);
    if (to === undefined) return;
    event.preventDefault();
    buttons[to]?.focus();
  });
  const onDecided = (id: string): void => {
    announce(words.done(id));
    onChanged();
  };
  return html`
    <p class="lead">${list.items.length === 0 ? words.empty : words.intro}</p>
    ${list.canDecide ? null : html`<p class="quiet" id="may-not-decide">${operatorWords.needsRole('operator', words.needed)}</p>`}
    <div class="queue-bar">
      <span>${list.items.length === 0 ? '' : words.count(list.items.length, list.hasMore)}</span>
      <label>
        <input
          type="checkbox"
          role="switch"
          checked=${isOn}
          onChange=${({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => {
            setOn(currentTarget.checked);
          }}
        />
        ${words.shortcuts}
      </label>
      ${isOn ? html`<span class="small quiet">${words.shortcutsHint}</span>` : null}
    </div>
    ${
      entries.length === 0
        ? null
        : html`<div class="split">
            <section aria-label=${words.queue} ref=${queue}>
              <${QueueList} entries=${entries} open=${open} onOpen=${openEntry} onClear=${clear} />
            </section>
            <section class="card" ref=${pane}>
              ${
                opened === undefined
                  ? html`<p class="quiet">${open === '' ? words.choose : words.gone}</p>`
                  : html`<${AttentionItem}
                      key=${opened.row.id}
                      entry=${opened}
                      canDecide=${list.canDecide}
                      onDecided=${onDecided}
                    />`
              }
            </section>
          </div>`
    }
  `;
}

function openEntry(id: string): void {
  setQuery({ open: id }, { replace: true });
}

/** An entry that a reader opens is read next, so the focus goes to its heading. */
function usePaneFocus(open: string): RefObject<HTMLElement | null> {
  const pane = useRef<HTMLElement>(null);
  const before = useRef(open);
  useEffect(() => {
    if (before.current === open) return;
    before.current = open;
    pane.current?.querySelector('h2')?.focus();
  }, [open]);
  return pane;
}

/** The place from which a key moves: the focused entry, or else the open one. */
function placeOf(buttons: readonly HTMLButtonElement[], open: string): number {
  const focused = buttons.findIndex((button) => button === document.activeElement);
  return focused >= 0 ? focused : buttons.findIndex(({ dataset }) => dataset['id'] === open);
}

/** The queue as the reader has it before the eyes. */
function useQueue(list: AttentionList): { readonly entries: readonly QueueEntry[]; readonly clear: () => void } {
  const [entries, setEntries] = useState<readonly QueueEntry[]>(() => mergedQueue([], list.items));
  useEffect(() => {
    setEntries((shown) => mergedQueue(shown, list.items));
  }, [list]);
  const clear = useCallback(() => {
    setEntries((shown) => shown.filter(({ isDecided }) => !isDecided));
  }, []);
  return { entries, clear };
}
