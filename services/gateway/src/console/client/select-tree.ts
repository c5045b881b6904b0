import type { SiteToken } from '../../clients/tokens-client.ts';

type Made = Pick<SiteToken, 'id' | 'madeByTokenId'>;

/** The token of an id and all that it made, directly or through others, in the order of the list. */
export function selectTree<T extends Made>(tokens: readonly T[], topId: string): readonly T[] {
  const madeIds = new Map<string, string[]>();
  for (const { id, madeByTokenId: maker } of tokens) {
    if (maker !== undefined) push(madeIds, maker, id);
  }
  const ids = new Set([topId]);
  // a set gives what is added while it is read
  for (const id of ids) for (const madeId of madeIds.get(id) ?? []) ids.add(madeId);
  return tokens.filter(({ id }) => ids.has(id));
}

function push(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
