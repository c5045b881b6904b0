import { useCallback, useEffect, useState } from 'preact/hooks';
import { setQuery } from '../../../state/address.ts';
import { announce } from '../../../state/announce.ts';
import { clockText } from '../../../parts/time.tsx';
import { attentionWords } from '../attention-words.ts';
import type { AttentionList, AttentionRow, MadeDecision, WantedDecision } from './attention-rows.ts';
import { summarize } from './batch-results.tsx';
import { outcomeText, BATCH_MAX, nameCause } from './consequence.ts';
import { useBatch } from './use-batch.ts';
import type { Batch } from './use-batch.ts';

const words = attentionWords.attention;

export interface Desk {
  /** The queue as the reader has it before the eyes. */
  readonly entries: readonly QueueEntry[];
  /** Removes what is decided. */
  readonly clear: () => void;
  /** The decisions that the visitor made on this page, by entry. */
  readonly made: ReadonlyMap<string, MadeDecision>;
  readonly chosen: ChosenEntries;
  readonly batch: Batch;
  /** `end`: nothing is left after the last decision. */
  readonly shown: 'entry' | 'together' | 'end';
  readonly openEntry: (id: string) => void;
  readonly showTogether: () => void;
  readonly goNext: () => void;
  readonly onDecided: (id: string, answer: MadeDecision) => void;
  readonly decideTogether: (decision: WantedDecision) => void;
}

/** The acts of a person at the queue: opens entries, decides over one or several, and goes on. */
export function useDesk(list: AttentionList, open: string, onChanged: () => void): Desk {
  const { entries, made, keepMade, clear } = useQueue(list);
  const [shown, setShown] = useState<Desk['shown']>('entry');
  const chosen = useChoosing(entries);
  const batch = useBatch(keepMade, (run) => {
    announce(summarize(run));
    onChanged();
  });
  const openEntry = (id: string): void => {
    setShown('entry');
    setQuery({ open: id }, { replace: true });
  };
  return {
    ...{ entries, clear, made, chosen, batch, shown, openEntry },
    showTogether: () => {
      batch.forget();
      setShown('together');
    },
    goNext: () => {
      batch.forget();
      const next = findNext(entries, open);
      if (next === undefined) setShown('end');
      else openEntry(next.row.id);
    },
    onDecided: (id, answer) => {
      keepMade(id, answer);
      const { resolution, money, at } = answer;
      announce(words.youDecided(id, words.as[resolution], outcomeText(resolution, money), clockText(at)));
      onChanged();
    },
    decideTogether: (decision) => {
      batch.begin(
        chosen.rows.map(({ id }) => id),
        decision,
      );
      chosen.clear();
    },
  };
}

interface Queue extends Pick<Desk, 'entries' | 'made' | 'clear'> {
  readonly keepMade: (id: string, answer: MadeDecision) => void;
}

function useQueue(list: AttentionList): Queue {
  const [listed, setListed] = useState<readonly QueueEntry[]>(() => mergeQueue([], list.items));
  const [answers, setAnswers] = useState<ReadonlyMap<string, MadeDecision>>(new Map());
  useEffect(() => setListed((before) => mergeQueue(before, list.items)), [list]);
  const keepMade = useCallback(
    (id: string, answer: MadeDecision) => setAnswers((before) => new Map([...before, [id, answer]])),
    [],
  );
  const clear = useCallback(() => setListed((before) => before.filter(({ isDecided }) => !isDecided)), []);
  // a decision of before does not count for an entry that waits again
  const made = new Map(
    listed.flatMap(({ row: { id, since } }) => {
      const answer = answers.get(id);
      return answer === undefined || answer.at < since ? [] : [[id, answer] as const];
    }),
  );
  const entries = listed.map(({ row, isDecided }) => ({ row, isDecided: isDecided || made.has(row.id) }));
  return { entries, made, keepMade, clear };
}

/** The entries that are to be decided together. */
export interface Selection {
  readonly chosen: ReadonlySet<string>;
  /** Returns the reason for which an entry cannot be selected, or undefined if it can be selected. */
  readonly refuse: (row: AttentionRow) => string | undefined;
  readonly onChoose: (id: string, isChosen: boolean) => void;
}

export interface ChosenEntries extends Selection {
  /** The chosen entries that still wait. */
  readonly rows: readonly AttentionRow[];
  /** The entries that can be chosen with the first one, at most as many as a batch has. */
  readonly alike: readonly AttentionRow[];
  readonly chooseAlike: () => void;
  readonly clear: () => void;
}

/** Keeps the entries that a person chooses to decide together. The first one decides which others can join it. */
function useChoosing(entries: readonly QueueEntry[]): ChosenEntries {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const waiting = entries.filter(({ isDecided }) => !isDecided).map(({ row }) => row);
  const rows = waiting.filter(({ id }) => chosen.has(id));
  const [first] = rows;
  const cause = first === undefined ? undefined : nameCause(first);
  const alike = waiting.filter((row) => nameCause(row) === cause).slice(0, BATCH_MAX);
  return {
    chosen: new Set(rows.map(({ id }) => id)),
    rows,
    alike,
    refuse: (row) => {
      if (chosen.has(row.id) || cause === undefined) return undefined;
      if (nameCause(row) !== cause) return words.batch.otherCause;
      return rows.length >= BATCH_MAX ? words.batch.full(BATCH_MAX) : undefined;
    },
    onChoose: (id, isChosen) => {
      const next = new Set(rows.map((row) => row.id));
      if (isChosen) next.add(id);
      else next.delete(id);
      setChosen(next);
    },
    chooseAlike: () => setChosen(new Set(alike.map(({ id }) => id))),
    clear: () => setChosen(new Set()),
  };
}

export interface QueueEntry {
  readonly row: AttentionRow;
  /** True if it has left the queue since the page was opened. It keeps its place until the reader removes it. */
  readonly isDecided: boolean;
}

/** Returns the queue after a refresh: nothing moves, new entries come last, and decided ones stay where they are. */
export function mergeQueue(shown: readonly QueueEntry[], now: readonly AttentionRow[]): readonly QueueEntry[] {
  const waiting = new Map(now.map((row) => [row.id, row]));
  const known = new Set(shown.map(({ row }) => row.id));
  const kept = shown.map(({ row }) => {
    const current = waiting.get(row.id);
    return { row: current ?? row, isDecided: current === undefined };
  });
  return [...kept, ...now.filter(({ id }) => !known.has(id)).map((row) => ({ row, isDecided: false }))];
}

/** The next entry after the open one that waits for a decision, or else the first such entry, or undefined. */
export function findNext(entries: readonly QueueEntry[], open: string): QueueEntry | undefined {
  const at = entries.findIndex(({ row }) => row.id === open);
  const ordered = [...entries.slice(at + 1), ...entries.slice(0, at + 1)];
  return ordered.find(({ row, isDecided }) => !isDecided && row.id !== open);
}

/** The place that a key moves to, or undefined if the key does not move. */
export function moveByKey(key: string, at: number, count: number): number | undefined {
  if (count === 0 || (key !== 'j' && key !== 'k')) return undefined;
  return Math.min(count - 1, Math.max(0, key === 'j' ? at + 1 : at - 1));
}
