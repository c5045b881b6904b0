import type { TaskRow } from '../../../api/tasks.ts';
import { words } from '../../../words.ts';

/** Returns the name of a task in a list: its prompt, or what it does if it has none. */
export function taskTitle({ prompt, kind, resolution }: Pick<TaskRow, 'prompt' | 'kind' | 'resolution'>): string {
  return prompt.trim() === '' ? [words.kinds[kind], resolution].filter(Boolean).join(', ') : prompt;
}
