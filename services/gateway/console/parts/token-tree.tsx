import type { ComponentChildren, VNode } from 'preact';
import type { Token } from '../api/tokens.ts';
import { words } from '../words.ts';

/** A token at its place below its makers. */
export interface PlacedToken {
  readonly token: Token;
  /** The number of its makers that are above it in the list. */
  readonly depth: number;
  /** The token that made it; undefined: it is not in the list. */
  readonly maker: Token | undefined;
}

/**
 * Orders tokens so that each stands below its maker, and otherwise as they came. A token whose maker is not in the list
 * stands at the top level.
 */
export function orderTree(tokens: readonly Token[]): readonly PlacedToken[] {
  const byId = new Map(tokens.map((token) => [token.id, token]));
  const made = groupByMaker(tokens);
  const placed = new Map<string, PlacedToken>();
  const place = (top: Token): void => {
    const open: PlacedToken[] = [{ token: top, depth: 0, maker: makerIn(byId, top) }];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { token, depth } = next;
      if (placed.has(token.id)) continue;
      placed.set(token.id, next);
      const below = made.get(token.id) ?? [];
      open.push(...below.map((child) => ({ token: child, depth: depth + 1, maker: token })).reverse());
    }
  };
  for (const token of tokens) if (makerIn(byId, token) === undefined) place(token);
  // no list of billing has a circle of makers, but no token may be missing from the page
  for (const token of tokens) place(token);
  return [...placed.values()];
}

/** The tokens that a token made, directly or through others, and that can still be used. */
export function countValidMade(tokens: readonly Token[], id: string, now: number): number {
  const placed = orderTree(tokens);
  const at = placed.findIndex(({ token }) => token.id === id);
  const top = placed[at];
  if (top === undefined) return 0;
  const after = placed.slice(at + 1);
  const end = after.findIndex(({ depth }) => depth <= top.depth);
  const below = end === -1 ? after : after.slice(0, end);
  return below.filter(({ token: { revokedAt, expiresAt = Infinity } }) => revokedAt === undefined && expiresAt > now)
    .length;
}

function makerIn(byId: ReadonlyMap<string, Token>, { madeBy }: Token): Token | undefined {
  return madeBy === undefined ? undefined : byId.get(madeBy);
}

function groupByMaker(tokens: readonly Token[]): ReadonlyMap<string, readonly Token[]> {
  const made = new Map<string, Token[]>();
  for (const token of tokens) {
    if (token.madeBy === undefined) continue;
    const siblings = made.get(token.madeBy);
    if (siblings === undefined) made.set(token.madeBy, [token]);
    else siblings.push(token);
  }
  return made;
}

/** The name of a token, or its id without one. */
export function labelToken({ id, name }: Pick<Token, 'id' | 'name'>): string {
  return name === '' ? id : name;
}

/** The deepest level with an indent of its own. */
const DEPTH_MAX = 8;

/** The name of a token, indented below its maker, and the maker in words. */
export function TokenPlace({ placed, children }: { placed: PlacedToken; children: ComponentChildren }): VNode {
  const { token, depth, maker } = placed;
  const madeBy = maker === undefined || maker.name === '' ? token.madeBy : maker.name;
  return (
    <span class={`lines made-${Math.min(depth, DEPTH_MAX)}`}>
      {children}
      {madeBy === undefined ? null : <span class="small quiet">{words.madeTokens.madeBy(madeBy)}</span>}
    </span>
  );
}
