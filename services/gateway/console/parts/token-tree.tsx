import type { ComponentChildren, VNode } from 'preact';
import { words } from '../words.ts';

export interface TreeToken {
  readonly id: string;
  readonly name: string;
  /** Undefined or empty if an operator or the configuration made it. */
  readonly madeByTokenId?: string;
}

/** A token at its place below its makers. */
export interface PlacedToken<T extends TreeToken> {
  readonly token: T;
  /** The number of its makers that are above it in the list. */
  readonly depth: number;
  /** The token that made it; undefined if it is not in the list. */
  readonly maker: T | undefined;
}

/**
 * Orders tokens so that each stands below its maker, and otherwise as they came. A token whose maker is not in the list
 * stands at the top level.
 */
export function orderTree<T extends TreeToken>(tokens: readonly T[]): readonly PlacedToken<T>[] {
  const byId = new Map(tokens.map((token) => [token.id, token]));
  const made = groupByMaker(tokens);
  const placed = new Map<string, PlacedToken<T>>();
  const place = (top: T): void => {
    const open: PlacedToken<T>[] = [{ token: top, depth: 0, maker: makerIn(byId, top) }];
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
export function countValidMade<T extends TreeToken>(
  tokens: readonly T[],
  id: string,
  isValid: (token: T) => boolean,
): number {
  const placed = orderTree(tokens);
  const at = placed.findIndex(({ token }) => token.id === id);
  const top = placed[at];
  if (top === undefined) return 0;
  const after = placed.slice(at + 1);
  const end = after.findIndex(({ depth }) => depth <= top.depth);
  const below = end === -1 ? after : after.slice(0, end);
  return below.filter(({ token }) => isValid(token)).length;
}

function makerIn<T extends TreeToken>(byId: ReadonlyMap<string, T>, { madeByTokenId = '' }: T): T | undefined {
  return byId.get(madeByTokenId);
}

function groupByMaker<T extends TreeToken>(tokens: readonly T[]): ReadonlyMap<string, readonly T[]> {
  return Map.groupBy(tokens, ({ madeByTokenId = '' }) => madeByTokenId);
}

/** The name of a token, or its id without one. */
export function labelToken({ id, name }: Pick<TreeToken, 'id' | 'name'>): string {
  return name === '' ? id : name;
}

/** The deepest level with an indent of its own. */
const DEPTH_MAX = 8;

/** The name of a token, indented below its maker, and the maker in words. */
export function TokenPlace({
  placed: { token, depth, maker },
  children,
}: {
  placed: PlacedToken<TreeToken>;
  children: ComponentChildren;
}): VNode {
  const madeBy = maker === undefined || maker.name === '' ? (token.madeByTokenId ?? '') : maker.name;
  return (
    <span class={`lines made-${Math.min(depth, DEPTH_MAX)}`}>
      {children}
      {madeBy === '' ? null : <span class="small quiet">{words.madeTokens.madeBy(madeBy)}</span>}
    </span>
  );
}
