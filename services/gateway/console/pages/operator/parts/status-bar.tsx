import type { VNode } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { OperatorMe } from '../../../api/session.ts';
import type { OperatorStatus } from '../../../api/operator-status.ts';
import { Ago } from '../../../parts/time.tsx';
import { go } from '../../../state/address.ts';
import { announce } from '../../../state/announce.ts';
import { keepChoice, readChoice } from '../../../state/kept-values.ts';
import { statusWords } from '../operator-words.ts';

const { status: words, search: searchWords } = statusWords;
const SHAPES = { warn: '▲', fail: '■' } as const;

/** Stands above every page: what is wrong, and the search. */
export function StatusBar({ me: { status } }: { me: OperatorMe }): VNode {
  useSpokenStatus(status);
  return (
    <div class="status-bar">
      <section class={`status-line ${status?.grade ?? 'ok'}`} aria-label={words.label}>
        {status === undefined ? (
          <p class="quiet">
            <span aria-hidden="true">●</span> {words.fine}
          </p>
        ) : (
          <StatusLine status={status} />
        )}
      </section>
      <SearchBox />
    </div>
  );
}

/** The fault and its time, then who is hit and what to do. A narrow window folds the second part. */
export function StatusLine({ status }: { status: OperatorStatus }): VNode {
  const { grade, what, since, hit, runbook, href, more } = status;
  const [isOpen, setIsOpen] = useState(false);
  const rest = useId();
  return (
    <div class={isOpen ? 'status-text open' : 'status-text'}>
      <p class="status-what">
        <strong class={grade === 'fail' ? 'bad' : 'busy'}>
          <span aria-hidden="true">{SHAPES[grade]}</span> {toSentence(what)}
        </strong>
        {since === undefined ? null : (
          <span class="status-since quiet">
            {' '}
            {words.since} <Ago at={since} />.
          </span>
        )}{' '}
      </p>
      <button
        type="button"
        class="quiet status-fold"
        aria-expanded={isOpen ? 'true' : 'false'}
        aria-controls={rest}
        onClick={() => setIsOpen(!isOpen)}
      >
        {isOpen ? words.less : words.rest}
      </button>
      <p class="status-rest" id={rest}>
        {hit === undefined ? null : (
          <span>
            {words.hit} {words.hits(hit.models, hit.moreModels, hit.accounts, hit.moreAccounts)}.{' '}
          </span>
        )}
        <span>{words.todo[runbook]}</span>
        <span class="status-links">
          <a href={href}>{words.show}</a>
          <a href={`/console/runbooks/${runbook}`}>
            {words.runbook}
            <span class="spoken"> {runbook}</span>
          </a>
          {more === 0 ? null : <a href="/console">{words.more(more)}</a>}
        </span>
      </p>
    </div>
  );
}

function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Speaks a status that changes while a page is open. */
function useSpokenStatus(status: OperatorStatus | undefined): void {
  const text = status?.what ?? words.fine;
  const before = useRef(text);
  useEffect(() => {
    if (before.current !== text) announce(words.spoken(text));
    before.current = text;
  }, [text]);
}

/** One box for every id and for words of prompts. The key `/` leads to it. */
function SearchBox(): VNode {
  const [value, setValue] = useState('');
  const box = useRef<HTMLInputElement>(null);
  const [areShortcutsOn] = useShortcutSwitch();
  useKeys(areShortcutsOn, (event) => {
    if (event.key !== '/') return;
    event.preventDefault();
    box.current?.focus();
    box.current?.select();
  });
  return (
    <form
      class="search-box"
      role="search"
      aria-label={statusWords.search.everything}
      onSubmit={(event) => {
        event.preventDefault();
        const wanted = value.trim();
        if (wanted !== '') go(`/console/search?q=${encodeURIComponent(wanted)}`);
      }}
    >
      <input
        ref={box}
        type="search"
        aria-label={searchWords.label}
        aria-keyshortcuts={areShortcutsOn ? '/' : undefined}
        title={areShortcutsOn ? searchWords.hint : undefined}
        placeholder={searchWords.placeholder}
        maxlength={256}
        autocomplete="off"
        spellcheck={false}
        value={value}
        onInput={({ currentTarget }) => setValue(currentTarget.value)}
      />
    </form>
  );
}

const KEPT_AS = 'reelgate:shortcuts';
const OFF = 'off';
/** The elements in which a letter is text. */
const TEXT = 'input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable], dialog';

/** Returns whether single keys do something on this browser, and the switch for it. */
export function useShortcutSwitch(): readonly [boolean, (isOn: boolean) => void] {
  const [isOn, setOn] = useState(() => readChoice(KEPT_AS) !== OFF);
  return [
    isOn,
    (next) => {
      setOn(next);
      keepChoice(KEPT_AS, next ? 'on' : OFF);
    },
  ];
}

/** Calls back for single keys, except where a person writes. */
export function useKeys(isOn: boolean, onKey: (event: KeyboardEvent) => void): void {
  const latest = useRef(onKey);
  latest.current = onKey;
  useEffect(() => {
    if (!isOn) return undefined;
    const listen = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.target instanceof Element && event.target.closest(TEXT) !== null) return;
      latest.current(event);
    };
    document.addEventListener('keydown', listen);
    return () => document.removeEventListener('keydown', listen);
  }, [isOn]);
}
