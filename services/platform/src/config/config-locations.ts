import { isAlias, isMap, isScalar, isSeq } from 'yaml';
import type { Document, LineCounter, Node } from 'yaml';

/** The way to a key through maps and lists. */
export type Keys = readonly (string | number)[];

/** The line of the deepest part of the path that is there; of a key rather than of its value. */
export function lineOf(document: Document, lines: LineCounter, keys: Keys): number {
  const range = placesOf(document, keys).at(-1)?.at.range;
  return range === undefined || range === null ? 1 : lines.linePos(range[0]).line;
}

interface Place {
  /** A map's key, or an item of a list. */
  readonly at: Node;
  readonly value: unknown;
}

/** The places on a path through the checked value, as far as there are any. */
export function placesOf(document: Document, keys: Keys): Place[] {
  const places: Place[] = [];
  let within: unknown = document.contents;
  for (const key of keys) {
    const place = placeIn(within, key);
    if (place === undefined) break;
    within = isAlias(place.value) ? place.value.resolve(document) : place.value;
    places.push({ at: place.at, value: within });
  }
  return places;
}

function placeIn(node: unknown, key: string | number): Place | undefined {
  if (isMap(node)) {
    const pair = node.items.find((item) => String(item.key) === String(key));
    return pair === undefined ? undefined : { at: pair.key as Node, value: pair.value };
  }
  // empty items were left out of the value
  const item = isSeq(node)
    ? node.items.filter((one) => !isScalar(one) || (one.value !== null && one.value !== ''))[Number(key)]
    : undefined;
  return item === undefined ? undefined : { at: item as Node, value: item };
}
