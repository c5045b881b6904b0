import { useState } from 'preact/hooks';
import { attentionWords } from '../attention-words.ts';
import type { AttentionRow } from './attention-rows.ts';
import { BATCH_MAX, nameCause } from './consequence.ts';
import type { QueueEntry } from './queue.ts';

const words = attentionWords.attention.batch;

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
export function useChoosing(entries: readonly QueueEntry[]): ChosenEntries {
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
      if (nameCause(row) !== cause) return words.otherCause;
      return rows.length >= BATCH_MAX ? words.full(BATCH_MAX) : undefined;
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
