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
