import { useCallback, useEffect, useState } from 'preact/hooks';
import type { DecisionRequest } from '../../../api/operator-attention.ts';
import { setQuery } from '../../../state/address.ts';
import { announce } from '../../../state/announce.ts';
import { clockText } from '../../../parts/time.tsx';
import { attentionWords } from '../attention-words.ts';
import type { AttentionList, MadeDecision } from './attention-rows.ts';
import { summarize } from './batch-results.tsx';
import { outcomeText } from './consequence.ts';
import { findNext, mergeQueue } from './queue.ts';
import type { QueueEntry } from './queue.ts';
import { useBatch } from './use-batch.ts';
import type { Batch } from './use-batch.ts';
import { useChoosing } from './use-choosing.ts';
import type { ChosenEntries } from './use-choosing.ts';

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
  readonly decideTogether: (decision: DecisionRequest) => void;
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
