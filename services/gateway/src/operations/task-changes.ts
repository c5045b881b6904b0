import type { TaskRef } from '../clients/tasks-client.ts';

/** Tells waiting reads that a task changed. */
export interface TaskChanges {
  changed(task: TaskRef): void;
  /** Calls back at each change until closed. */
  watch(task: TaskRef, onChange: () => void): { close(): void };
}

export function openTaskChanges(): TaskChanges {
  const watchers = new Map<string, Set<() => void>>();
  return {
    changed: (task) => {
      for (const onChange of watchers.get(keyOf(task)) ?? []) onChange();
    },
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
