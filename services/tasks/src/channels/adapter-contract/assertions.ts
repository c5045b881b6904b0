import assert from 'node:assert/strict';

/** Asserts that two values have the same members. An undefined member counts as absent. */
export function assertSame(actual: unknown, expected: unknown): void {
  assert.deepEqual(dropUndefined(actual), dropUndefined(expected));
}

/** Asserts that a value has at least these members, at every depth. A list must have exactly its items. */
export function assertHolds(actual: unknown, expected: object): void {
  assertSame(selectMembers(actual, expected), expected);
}

function selectMembers(actual: unknown, expected: unknown): unknown {
  if (!isPlainObject(actual) || !isPlainObject(expected)) return actual;
  return Object.fromEntries(
    Object.entries(expected).flatMap(([key, inner]) =>
      Object.hasOwn(actual, key) ? [[key, selectMembers(actual[key], inner)]] : [],
    ),
  );
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Asserts the same, where the text under a key only needs to hold the expected text. */
export function assertSameBut(key: string, actual: object, expected: object): void {
  const part = (expected as Readonly<Record<string, unknown>>)[key];
  if (typeof part !== 'string') {
    assertSame(actual, expected);
    return;
  }
  const text = String((actual as Readonly<Record<string, unknown>>)[key]);
  assert.ok(text.includes(part), `${key} is ${JSON.stringify(text)} and should hold ${JSON.stringify(part)}`);
  assertSame({ ...actual, [key]: part }, expected);
}

function dropUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(dropUndefined);
  if (!isPlainObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (inner === undefined ? [] : [[key, dropUndefined(inner)]])),
  );
}
