import type { VNode } from 'preact';
import type { TokenQueue } from '../api/tokens.ts';
import { tokenQueueWords as words } from './token-queue-words.ts';
import { SelectField } from './select-field.tsx';

export const DEFAULT_QUEUE: TokenQueue = { wait: 'channels', class: 'standard' };

const FIELDS = ['wait', 'class'] as const;

export interface QueueFieldsProps {
  readonly queue: TokenQueue;
  readonly onChange: (queue: TokenQueue) => void;
  /** Returns the fault that is told under a field. */
  readonly findFault?: (name: keyof TokenQueue) => string | undefined;
}

/** The two choices of how the tasks of a token wait. */
export function QueueFields({ queue, onChange, findFault }: QueueFieldsProps): VNode {
  return (
    <>
      {FIELDS.map((name) => (
        <SelectField
          key={name}
          label={words.labels[name]}
          value={queue[name]}
          options={Object.entries(words[name]).map(([value, text]) => ({ value, name: text }))}
          fault={findFault?.(name)}
          onChange={(value) => onChange({ ...queue, [name]: value })}
        />
      ))}
    </>
  );
}

/** Returns an empty text for a token that waits as most tokens do. */
export function describeQueue(queue: TokenQueue): string {
  const texts = [
    queue.wait === DEFAULT_QUEUE.wait ? '' : `${words.labels.wait}: ${words.wait[queue.wait]}`,
    queue.class === DEFAULT_QUEUE.class ? '' : `${words.labels.class}: ${words.class[queue.class]}`,
  ];
  return texts.filter((text) => text !== '').join(', ');
}
