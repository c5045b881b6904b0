import type { VNode } from 'preact';
import { useId } from 'preact/hooks';
import { operatorWords } from '../operator-words.ts';

const CHARACTERS_MAX = 500;

export interface ReasonFieldProps {
  readonly value: string;
  readonly onInput: (value: string) => void;
  /** Told under the field. */
  readonly fault?: string | undefined;
  readonly isDisabled?: boolean;
  readonly charactersMax?: number;
}

/** Shows the field for the reason of an operator's act. */
export function ReasonField({
  value,
  onInput,
  fault,
  isDisabled = false,
  charactersMax = CHARACTERS_MAX,
}: ReasonFieldProps): VNode {
  const id = useId();
  return (
    <div>
      <label for={id}>{operatorWords.reason.label}</label>
      <textarea
        id={id}
        rows={2}
        required
        maxlength={charactersMax}
        disabled={isDisabled}
        aria-invalid={fault === undefined ? undefined : 'true'}
        aria-describedby={`${id}-hint ${id}-fault`}
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      <p id={`${id}-hint`} class="small quiet">
        {operatorWords.reason.hint(charactersMax)}
      </p>
      <p id={`${id}-fault`} class="fault">
        {fault ?? ''}
      </p>
    </div>
  );
}
