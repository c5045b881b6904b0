import { useState } from 'preact/hooks';

/**
 * Keeps what is typed into a field whose value stands in the address until it is applied. The list below the field is
 * drawn again with each change of a task, and Preact then gives the field its value back. Another value in the address
 * replaces what was typed for good.
 */
export function useDraft(value: string): readonly [string, (typed: string) => void] {
  const [draft, setDraft] = useState({ value, typed: value });
  const keep = (typed: string): void => {
    setDraft({ value, typed });
  };
  if (draft.value !== value) keep(value);
  return [draft.value === value ? draft.typed : value, keep];
}
