import { useId } from 'preact/hooks';
import type { Right } from '../../../api/tokens.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { operatorWords } from '../words.ts';

const words = operatorWords.tokens;
const RIGHTS = Object.keys(words.right) as Right[];

export interface RightFieldProps {
  readonly label: string;
  readonly value: Right;
  readonly onPick: (right: Right) => void;
}

/** What a token may do with webhooks, or with the tokens of its account. */
export function RightField({ label, value, onPick }: RightFieldProps): VNode {
  const id = useId();
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <select
      id=${id}
      onChange=${({ currentTarget }: { readonly currentTarget: HTMLSelectElement }) => {
        onPick(RIGHTS.find((right) => right === currentTarget.value) ?? value);
      }}
    >
      ${RIGHTS.map((right) => html`<option key=${right} value=${right} selected=${right === value}>${words.right[right]}</option>`)}
    </select>
  </div>`;
}
