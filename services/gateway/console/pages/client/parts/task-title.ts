import type { TaskRow } from '../../../api/tasks.ts';
import { words } from '../../../words.ts';

/** What a task is called in a list: its prompt, or what it does where it has none. */
export function taskTitle({ prompt, kind, resolution }: Pick<TaskRow, 'prompt' | 'kind' | 'resolution'>): string {
  return prompt.trim() === '' ? [words.kinds[kind], resolution].filter(Boolean).join(', ') : prompt;
}
