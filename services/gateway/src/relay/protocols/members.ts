import type { JsonObject } from '../../json-bytes/find-objects.ts';

const NOTHING: JsonObject = {};

/** Reads a member that is an object. Returns an empty object for any other value. */
export function readObject(holder: JsonObject | undefined, name: string): JsonObject {
  const value = holder?.[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : NOTHING;
}

/** Reads a member that is a list. Returns an empty list for any other value. */
export function readList(holder: JsonObject | undefined, name: string): readonly unknown[] {
  const value = holder?.[name];
  return Array.isArray(value) ? value : [];
}

/** An object that is deeper has content. */
const CONTENT_DEPTH_MAX = 8;

/** The elements of a list that are objects. */
export function readObjects(holder: JsonObject, name: string): readonly JsonObject[] {
  return readList(holder, name).filter(
    (element): element is JsonObject => typeof element === 'object' && element !== null,
  );
}

/**
 * Reports whether a value is more than an empty text, zero, false or null, and more than a list or an object of such
 * values. A number in a list is content, even zero.
 */
export function hasContent(value: unknown, depth = CONTENT_DEPTH_MAX): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value);
  if (depth === 0) return true;
  return Array.isArray(value)
    ? value.some((inner) => typeof inner === 'number' || hasContent(inner, depth - 1))
    : Object.values(value).some((inner) => hasContent(inner, depth - 1));
}

/** The same for an object without these members. */
export function hasContentBut(holder: JsonObject, ...names: readonly string[]): boolean {
  return Object.entries(holder).some(([name, value]) => !names.includes(name) && hasContent(value));
}
