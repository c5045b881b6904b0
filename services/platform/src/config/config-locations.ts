import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { Document, LineCounter, Node } from 'yaml';

/** The path to a key through maps and lists. */
export type Keys = readonly (string | number)[];

/** The line of the deepest part of the path that exists: the line of the key, not of its value. */
export function findLine(document: Document, lines: LineCounter, keys: Keys): number {
  const range = findNodes(document, keys).at(-1)?.at.range;
  return range === undefined || range === null ? 1 : lines.linePos(range[0]).line;
}

interface LocatedNode {
  /** The key in a map, or the item of a list. */
  readonly at: Node;
  readonly value: unknown;
}

/** The nodes on a path through the checked value, as far as they exist. */
export function findNodes(document: Document, keys: Keys): LocatedNode[] {
  const nodes: LocatedNode[] = [];
  let within: unknown = document.contents;
  for (const key of keys) {
    const node = findChild(within, key);
    if (node === undefined) break;
    within = isAlias(node.value) ? node.value.resolve(document) : node.value;
    nodes.push({ at: node.at, value: within });
  }
  return nodes;
}

function findChild(node: unknown, key: string | number): LocatedNode | undefined {
  if (isMap(node)) {
    const pair = node.items.find((item) => String(item.key) === String(key));
    return pair === undefined ? undefined : { at: pair.key as Node, value: pair.value };
  }
  // empty items were removed from the value
  const item = isSeq(node)
    ? node.items.filter((one) => !isScalar(one) || (one.value !== null && one.value !== ''))[Number(key)]
    : undefined;
  return item === undefined ? undefined : { at: item as Node, value: item };
}
