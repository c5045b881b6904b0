export type Json = Readonly<Record<string, unknown>>;

/** The value as an object. Upstreams do not always keep to their schema, so any other value is an empty object. */
export function readObject(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** The value if it is a non-empty text. */
export function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The value if it is a whole number that is not negative. */
export function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The value as a time in milliseconds since 1970 if it is one in whole seconds. */
export function readSecondsAsMs(value: unknown): number | undefined {
  const seconds = readCount(value);
  return seconds === undefined || seconds === 0 ? undefined : seconds * 1000;
}

/** A field of a body, or none. */
export function toOptionalField(name: string, value: unknown): Readonly<Record<string, unknown>> {
  return value === undefined ? {} : { [name]: value };
}
