import type { JsonObject } from '../../json-bytes/find-objects.ts';

const NOTHING: JsonObject = {};

/** Reads a member that is an object. Returns an empty object if it is none. */
export function readObject(holder: JsonObject | undefined, name: string): JsonObject {
  const value = holder?.[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : NOTHING;
}

/** Reads a member that is a list. Returns an empty list if it is none. */
export function readList(holder: JsonObject | undefined, name: string): readonly unknown[] {
  const value = holder?.[name];
  return Array.isArray(value) ? value : [];
}
