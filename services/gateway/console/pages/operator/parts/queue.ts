import type { AttentionRow } from './attention-rows.ts';

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
