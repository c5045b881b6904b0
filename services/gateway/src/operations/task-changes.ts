import type { TaskRef } from '../clients/tasks-client.ts';

type OnChange = (carrier: string | undefined) => void;

/** Tells waiting reads that a task changed. */
export interface TaskChanges {
  /** Calls all that watch it, with the carrier of the change if it is recorded. */
  changed(task: TaskRef, carrier?: string): void;
  /** Calls back at each change until closed. */
  watch(task: TaskRef, onChange: OnChange): { close(): void };
  /** How many watch it. */
  watching(task: TaskRef): number;
}

export function openTaskChanges(): TaskChanges {
  const watchers = new Map<string, Set<OnChange>>();
  return {
    changed: (task, carrier) => {
      for (const onChange of watchers.get(keyOf(task)) ?? []) onChange(carrier);
    },
    watching: (task) => watchers.get(keyOf(task))?.size ?? 0,
    watch: (task, onChange) => {
      const key = keyOf(task);
      const own = watchers.get(key) ?? new Set();
      watchers.set(key, own.add(onChange));
      return {
        close: () => {
          own.delete(onChange);
          if (own.size === 0 && watchers.get(key) === own) watchers.delete(key);
        },
      };
    },
  };
}

export function keyOf({ accountId, taskId }: TaskRef): string {
  return `${accountId}\n${taskId}`;
}
