import type { VNode } from 'preact';
import { words } from '../words.ts';

export interface MadeChoiceProps {
  /** The number of tokens that the token made, directly or through others, and that can still be used. */
  readonly count: number;
  readonly isWithMade: boolean;
  readonly onChange: (isWithMade: boolean) => void;
}

/** Offers to revoke what a token made too, and says what stays valid otherwise. */
export function MadeChoice({ count, isWithMade, onChange }: MadeChoiceProps): VNode | null {
  if (count === 0) return null;
  return (
    <>
      <label>
        <input
          type="checkbox"
          checked={isWithMade}
          aria-describedby="made-stays"
          onChange={({ currentTarget }) => onChange(currentTarget.checked)}
        />
        {words.madeTokens.alsoRevoke(count)}
      </label>
      <p id="made-stays" class="small quiet">
        {words.madeTokens.stays(count)}
      </p>
    </>
  );
}
