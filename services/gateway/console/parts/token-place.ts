import { html } from '../html.ts';
import type { ComponentChildren, VNode } from '../html.ts';
import { words } from '../words.ts';
import type { PlacedToken } from './token-tree.ts';

/** The deepest level with an indent of its own. */
const DEPTH_MAX = 8;

/** The name of a token, indented below its maker, and the maker in words. */
export function TokenPlace({ placed, children }: { placed: PlacedToken; children: ComponentChildren }): VNode {
  const { token, depth, maker } = placed;
  const madeBy = maker === undefined || maker.name === '' ? token.madeBy : maker.name;
  return html`<span class=${`lines made-${Math.min(depth, DEPTH_MAX)}`}
    >${children}
    ${madeBy === undefined ? null : html`<span class="small quiet">${words.madeTokens.madeBy(madeBy)}</span>`}</span
  >`;
}
