import type { JsonObject } from '../../json-bytes/find-objects.ts';
import { readList } from './members.ts';

/** An object that is deeper has content. */
const CONTENT_DEPTH_MAX = 8;

/** The elements of a list that are objects. */
export function readObjects(holder: JsonObject, name: string): readonly JsonObject[] {
  return readList(holder, name).filter(
    (element): element is JsonObject => typeof element === 'object' && element !== null,
  );
}

/** Reports whether a value is more than an empty text, list or object, zero, false or null. */
export function hasContent(value: unknown, depth = CONTENT_DEPTH_MAX): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value);
  if (Array.isArray(value)) return value.length > 0;
  return depth === 0 || Object.values(value).some((inner) => hasContent(inner, depth - 1));
}
