import { useEffect, useRef } from 'preact/hooks';
import type { RefObject, VNode } from 'preact';
import { sendCall } from '../../state/calls.ts';
import { useRead } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { AttentionItem } from './parts/attention-item.tsx';
import { readAttention } from './parts/attention-rows.ts';
import type { AttentionList } from './parts/attention-rows.ts';
import { BatchForm } from './parts/batch-form.tsx';
import { BatchResults } from './parts/batch-results.tsx';
import { ChosenBar, QueueBar, QueueList } from './parts/queue-list.tsx';
import { moveByKey, useDesk } from './parts/use-desk.ts';
import type { Desk } from './parts/use-desk.ts';
import { useOperator } from './parts/use-operator.ts';
import { useKeys, useShortcutSwitch } from './parts/status-bar.tsx';
import { attentionWords } from './attention-words.ts';
import { operatorWords } from './operator-words.ts';

const words = attentionWords.attention;
const NEXT = 'n';

export function page({ query }: PageProps): VNode {
  const { name, covers } = useOperator();
  const view = useRead({ key: 'attention', read: ({ signal }) => readAttention((call) => sendCall(call, signal)) }, [
    'attention',
  ]);
  return (
    <>
      <PageTitle title={words.title} lead={words.intro} />
      <Loaded view={view}>
        {(list) => (
          <AttentionView
            list={list}
            canDecide={covers('operator')}
            you={name}
            open={query.get('open') ?? ''}
            onChanged={view.refresh}
          />
        )}
      </Loaded>
    </>
  );
}

export interface AttentionViewProps {
  readonly list: AttentionList;
  readonly canDecide: boolean;
  /** The name of the visitor. */
  readonly you: string;
  /** The id of the open entry; empty: none is. */
  readonly open: string;
  readonly onChanged: () => void;
}

export function AttentionView(props: AttentionViewProps): VNode {
  const { list, canDecide, open, onChanged } = props;
  const desk = useDesk(list, open, onChanged);
  const { entries, clear, chosen, shown, showTogether, openEntry, goNext } = desk;
  const [isOn, setOn] = useShortcutSwitch();
  const queue = useRef<HTMLElement>(null);
  const pane = usePaneFocus(`${shown} ${open} ${String(desk.batch.run === undefined)}`);
  useKeys(isOn, (event) => {
    const buttons = [...(queue.current?.querySelectorAll<HTMLButtonElement>('button.entry') ?? [])];
    const to = moveByKey(event.key, findPlace(buttons, open), buttons.length);
    if (event.key === NEXT) goNext();
    else if (to !== undefined) buttons[to]?.focus();
    else return;
    event.preventDefault();
  });
  const isEmpty = list.items.length === 0;
  return (
    <>
      {isEmpty ? <EmptyState title={words.empty} text={words.emptyText} /> : null}
      {canDecide ? null : (
        <p class="quiet" id="may-not-decide">
          {operatorWords.needsRole('operator', words.needed)}
        </p>
      )}
      <QueueBar count={isEmpty ? '' : words.count(list.items.length, list.hasMore)} isOn={isOn} onSwitch={setOn} />
      {entries.length === 0 ? null : (
        <div class="split">
          <section aria-label={words.queue} ref={queue}>
            {canDecide && !isEmpty ? <ChosenBar chosen={chosen} onTogether={showTogether} /> : null}
            <QueueList
              entries={entries}
              open={open}
              onOpen={openEntry}
              onClear={clear}
              choosing={canDecide ? chosen : undefined}
            />
          </section>
          <section class="card" ref={pane}>
            <Pane {...props} desk={desk} />
          </section>
        </div>
      )}
    </>
  );
}

/** The part that is open beside the queue: an entry, several that are decided together, or what came of them. */
function Pane({ list, canDecide, you, open, desk, onChanged }: AttentionViewProps & { desk: Desk }): VNode {
  const { entries, chosen, batch, shown, made, onDecided, goNext, decideTogether } = desk;
  if (shown === 'end') return <h2 tabindex={-1}>{list.hasMore ? words.moreWait : words.nothingLeft}</h2>;
  if (shown === 'together' && batch.run !== undefined)
    return <BatchResults run={batch.run} batch={batch} onNext={goNext} />;
  if (shown === 'together' && chosen.rows.length > 0)
    return <BatchForm rows={chosen.rows} onConfirm={decideTogether} />;
  const opened = entries.find(({ row }) => row.id === open);
  if (opened === undefined) return <p class="quiet">{open === '' ? words.choose : words.gone}</p>;
  return (
    <AttentionItem
      key={opened.row.id}
      entry={opened}
      canDecide={canDecide}
      you={you}
      made={made.get(opened.row.id)}
      onDecided={onDecided}
      onChanged={onChanged}
      onNext={goNext}
    />
  );
}

/** An entry that a reader opens is read next, so the focus goes to its heading. */
function usePaneFocus(shown: string): RefObject<HTMLElement | null> {
  const pane = useRef<HTMLElement>(null);
  const before = useRef(shown);
  useEffect(() => {
    if (before.current === shown) return;
    before.current = shown;
    pane.current?.querySelector('h2')?.focus();
  }, [shown]);
  return pane;
}

/** The place from which a key moves: the focused entry, or else the open one. */
function findPlace(buttons: readonly HTMLButtonElement[], open: string): number {
  const focused = buttons.findIndex((button) => button === document.activeElement);
  return focused >= 0 ? focused : buttons.findIndex(({ dataset }) => dataset['id'] === open);
}
